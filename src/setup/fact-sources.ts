// Active policies that read a screener, chain or geography file that the service lacks. The service stores its sources at
// startup, because commands may have another config file.
import type { Config } from '../config/config.ts'
import { PolicyUnusableError } from '../policy/evaluation-errors.ts'
import { compileRevision } from '../policy/revision.ts'
import type { FactNeed } from '../policy/types/needs.ts'
import type { Policy } from '../store/organizations/policies.ts'
import type { Store, Tables } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Finding } from './finding.ts'

type SourceSettings = Pick<Config, 'screeners' | 'chains' | 'chainSettings' | 'geoipFile'>

interface ConfiguredSources {
  readonly screeners: readonly string[]
  /** EVM chains with an RPC URL. */
  readonly chains: readonly string[]
  readonly geography: boolean
}

/** Deployment value: JSON of the sources at the last startup. */
const FACT_SOURCES = 'fact_sources'

const sourcesOf = ({ screeners, chains, chainSettings, geoipFile }: SourceSettings): ConfiguredSources => ({
  screeners: [...screeners.keys()],
  chains: chains.chains
    .filter(({ family, name }) => family === 'evm' && chainSettings.get(name)?.rpcUrls !== undefined)
    .map(({ name }) => name),
  geography: geoipFile !== '',
})

export const rememberSources = ({ deployment }: Store, config: SourceSettings): Promise<void> =>
  deployment.replace(FACT_SOURCES, JSON.stringify(sourcesOf(config)))

/** Sources at the last startup; before the first startup, the sources in the given settings. */
const currentSources = async (
  { deployment }: Pick<Tables, 'deployment'>,
  config: SourceSettings,
): Promise<ConfiguredSources> => {
  const text = await deployment.read(FACT_SOURCES)
  return text === null ? sourcesOf(config) : (JSON.parse(text) as ConfiguredSources)
}

const describeMissing = (need: FactNeed, { screeners, chains, geography }: ConfiguredSources): string | null => {
  const describeChain = (name: string, chain: string | null): string | null => {
    if (chain === null ? chains.length > 0 : chains.includes(chain)) return null
    return `${name} needs an RPC URL of ${chain ?? 'a chain'} (rpc under chains)`
  }
  switch (need.kind) {
    case 'screener':
      return screeners.includes(need.screener) ? null : `the screener ${need.screener} is not in the config file`
    case 'read':
      return describeChain(`reads.${need.read}`, need.definition.chain)
    case 'base-fee':
      return describeChain('chain.base_fee', null)
    case 'geography':
      return geography ? null : 'client.country and other facts of the IP address need geoip-file'
    default:
      return null
  }
}

const describeAll = (needs: readonly FactNeed[], sources: ConfiguredSources): readonly string[] =>
  [...new Set(needs.flatMap((need) => describeMissing(need, sources) ?? []))].map(
    (text) =>
      `the running service lacks a source: ${text}. Rules that read the source fail with 503 until the service is restarted with it`,
  )

/** Returns a function that describes each needed source that the service lacks, with the remedy. */
export const createSourceCheck =
  (config: SourceSettings) =>
  async (tables: Pick<Tables, 'deployment'>, needs: readonly FactNeed[]): Promise<readonly string[]> =>
    describeAll(needs, await currentSources(tables, config))

/** Other documents need no source, so a startup does not compile them. */
const MAY_READ_SOURCE = /screener|reads|base_fee|client|\\/

/** @param startup can end the inspection early, and skips documents that read no source; null to read all */
export const inspectSources = async (
  store: Store,
  config: SourceSettings,
  startup: { readonly isOver: () => boolean } | null = null,
): Promise<readonly Finding[]> => {
  const { organizations, projects, policies } = store
  const sources = await currentSources(store, config)
  const inspect = async ({ organizationId, name, activeRevisionId }: Policy, slug: string): Promise<Finding[]> => {
    const found = { check: 'source', subject: `${slug}: ${name}`, result: 'problem' } as const
    const revision = activeRevisionId === null ? null : await policies.findRevision(organizationId, activeRevisionId)
    if (revision === null || (startup !== null && !MAY_READ_SOURCE.test(revision.source))) return []
    try {
      const { needs } = await compileRevision(revision)
      return describeAll(needs, sources).map((detail) => ({ ...found, detail }))
    } catch (error) {
      if (!(error instanceof PolicyUnusableError)) throw error
      return [{ ...found, detail: `${error.detail}: activate another revision` }]
    }
  }
  const findings: Finding[] = []
  for (const { id, slug } of await organizations.list()) {
    for (const policyId of new Set((await projects.list(id)).map((project) => project.policyId))) {
      if (startup?.isOver()) return findings
      const policy = await policies.find(id, policyId)
      if (policy !== null) findings.push(...(await inspect(policy, slug)))
    }
  }
  return findings
}

/** Logs the findings in the background. Returns a function that ends the inspection. */
export const reportSources = (store: Store, config: SourceSettings, log: Pick<Logger, 'warn'>) => {
  let isOver = false
  const report = async (): Promise<void> => {
    for (const { subject, detail } of await inspectSources(store, config, { isOver: () => isOver })) {
      log.warn('a policy reads a source that the service lacks', { policy: subject, reason: detail })
    }
  }
  const reported = report().catch((error) => log.warn('the sources of the policies could not be checked', { error }))
  return async (): Promise<void> => {
    isOver = true
    await reported
  }
}
