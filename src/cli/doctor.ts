// `countersign doctor`: asks every configured chain whether it is as the configuration says, and whether its registry
// knows our attesters; says what of the deployment's own traffic crosses a network unprotected. Changes nothing; RPC URLs
// are named by their hosts, since their paths hold keys.

import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import type { Clock } from '../domain/time.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import { inspectAccess, type SecretSettings } from '../setup/file-access.ts'
import { storeMayExist } from '../setup/store-location.ts'
import type { Attester } from '../store/attesters.ts'
import { StoreUnusableError } from '../store/errors.ts'
import type { Store } from '../store/store.ts'
import type { StoreTarget } from '../store/store-address.ts'
import { type CertificateCheck, inspectCertificateTerms } from '../wiring/certificate-term.ts'
import { type ChainCheck, inspectChains } from '../wiring/chain-inspection.ts'
import { type ExposureCheck, inspectExposure, type ListenSettings } from '../wiring/exposure.ts'
import { readListenerTls, type TlsSettings } from '../wiring/tls-files.ts'
import { type CommandOutput, formatTable, parseCommand, runToExitCode, UsageError } from './output.ts'

const USAGE = `Usage: countersign doctor [--chain CHAIN]

Checks each chain that has an RPC URL: that every URL answers and serves the chain, how far its latest block is from this
machine's clock, and, where a registry is set, that there is one and that it knows our attesters. Says what crosses a
network unprotected: the connection to the store, and listeners on addresses that other machines reach; and who besides the
service's user can read or change the data folder and the secrets. Names listeners whose TLS certificate is over or ends within
14 days, says where documents are not scanned, and names projects whose policy has no active revision.

  --chain CHAIN  This chain only, and nothing else
  --json         Print JSON
  --help         Print this

Exit codes: 0 nothing is wrong, 1 a problem was found, 2 the call is wrong.
`

export interface DoctorCommandInput {
  readonly output: CommandOutput
  readonly config: Pick<Config, 'chains' | 'chainSettings'> &
    ListenSettings &
    TlsSettings &
    SecretSettings &
    Pick<Config, 'scanner'>
  readonly folder: DataFolder
  readonly clock: Pick<Clock, 'unixSeconds'>
  readonly openStore: () => Promise<Store>
  readonly locateStore: () => Promise<StoreTarget>
}

const readAttesters = async (openStore: DoctorCommandInput['openStore']): Promise<readonly Attester[]> => {
  const store = await openStore()
  try {
    return await store.attesters.list()
  } finally {
    await store.close()
  }
}

/** A file or folder that others can read or change. */
interface AccessCheck extends Omit<ExposureCheck, 'check'> {
  readonly check: 'access'
}
/** A project that can't be decided for. */
interface ProjectCheck extends Omit<ExposureCheck, 'check'> {
  readonly check: 'project'
}
/** Whether documents are scanned. */
interface ScannerCheck extends Omit<ExposureCheck, 'check'> {
  readonly check: 'scanner'
}
type DeploymentCheck = ExposureCheck | AccessCheck | CertificateCheck | ProjectCheck | ScannerCheck

const inspectScanner = ({ config }: DoctorCommandInput): ScannerCheck[] => {
  if (config.scanner !== null) return []
  const detail = 'documents that people hand in are not scanned for malware: scanner names a clamd that does'
  return [{ check: 'scanner', subject: 'scanner', result: 'note', detail }]
}

const inspectFiles = ({ folder, config }: DoctorCommandInput): AccessCheck[] =>
  inspectAccess(folder, config).map(({ path, detail, refused }) => ({
    check: 'access',
    subject: path,
    result: refused ? 'problem' : 'note',
    detail,
  }))

/** Projects whose policy has no active revision. */
const inspectProjects = async ({ organizations, projects }: Store): Promise<ProjectCheck[]> => {
  const checks: ProjectCheck[] = []
  for (const { id, slug } of await organizations.list()) {
    for (const { name, policyId, policyActive } of await projects.list(id)) {
      if (policyActive) continue
      const detail =
        `its policy has no active revision, so every request for it is refused: ` +
        `countersign policy activate ${policyId} --revision N --org ${slug}`
      checks.push({ check: 'project', subject: `${slug}: ${name}`, result: 'problem', detail })
    }
  }
  return checks
}

/** Whether the listeners could start with their certificates, and for how long clients take those. */
const inspectCertificates = ({ config, clock }: DoctorCommandInput): readonly (ExposureCheck | CertificateCheck)[] => {
  try {
    return inspectCertificateTerms(readListenerTls(config), clock.unixSeconds())
  } catch (error) {
    if (!(error instanceof SettingInvalidError)) throw error
    return [{ check: 'listener', subject: 'tls-certificate', result: 'problem', detail: error.message }]
  }
}

/**
 * Whether the store opens, each project can be decided for, what crosses a network, and who can read the files. Before the
 * first start there is nothing to open.
 */
const inspectDeployment = async (input: DoctorCommandInput): Promise<readonly DeploymentCheck[]> => {
  const target = await input.locateStore()
  const exposure = [
    ...inspectFiles(input),
    ...inspectCertificates(input),
    ...inspectExposure(input.config, target),
    ...inspectScanner(input),
  ]
  if (!storeMayExist(target)) return exposure
  try {
    const store = await input.openStore()
    try {
      return [...(await inspectProjects(store)), ...exposure]
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!(error instanceof StoreUnusableError)) throw error
    return [{ check: 'store', subject: 'store', result: 'problem', detail: error.detail }, ...exposure]
  }
}

const print = (output: CommandOutput, checks: readonly ChainCheck[], exposure: readonly DeploymentCheck[]): void => {
  if (checks.length === 0) output.stdout('no chain has an RPC URL: no chain is checked\n')
  const rows = [
    ...checks.map(({ chain, check, result, subject, detail }) => [chain, check, result, subject, detail]),
    ...exposure.map(({ check, result, subject, detail }) => ['-', check, result, subject, detail]),
  ]
  if (rows.length > 0) output.stdout(formatTable([['CHAIN', 'CHECK', 'RESULT', 'OF', ''], ...rows]))
}

export const runDoctor = (commandArguments: readonly string[], input: DoctorCommandInput): Promise<number> =>
  runToExitCode(input.output, USAGE, async () => {
    const command = parseCommand(commandArguments, {
      chain: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      input.output.stdout(USAGE)
      return 0
    }
    if (command.positionals.length > 0) throw new UsageError('doctor takes no words')
    const only = command.text('chain')
    const chain = only === undefined ? undefined : input.config.chains.byName(only)
    if (only !== undefined && chain === undefined) throw new UsageError(`there is no chain ${only}`)
    const checks = await inspectChains({
      chains: input.config.chains,
      chainSettings: input.config.chainSettings,
      only: chain?.name,
      readAttesters: () => readAttesters(input.openStore),
      nowSeconds: input.clock.unixSeconds,
    })
    const exposure = only === undefined ? await inspectDeployment(input) : []
    const ok = ![...checks, ...exposure].some(({ result }) => result === 'problem')
    if (command.flag('json')) input.output.stdout(`${JSON.stringify({ ok, checks, exposure })}\n`)
    else print(input.output, checks, exposure)
    return ok ? 0 : 1
  })
