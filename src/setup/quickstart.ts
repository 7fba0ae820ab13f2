// First startup: two attesters and, unless disabled, a demo organization. All rows are stored in one transaction, and
// the values written to `quickstart.env` (mode 0600). Later startups only update its URLs.
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename } from 'node:path'
import bs58 from 'bs58'
import { SettingInvalidError } from '../config/settings.ts'
import { parseEvmAddress, type WalletAddress } from '../domain/address.ts'
import type { ChainTable } from '../domain/chain.ts'
import { writeDurably } from '../lib/durable-file.ts'
import { systemClock } from '../lib/time.ts'
import { draftRevision } from '../policy/revision.ts'
import { DEMO_POLICY } from '../policy/tools/templates.ts'
import { type AttesterKeystore, createAttesterKeystore } from '../signing/attester-files.ts'
import type { Store, Tables } from '../store/store.ts'
import type { DataFolder } from './data-folder.ts'

export interface QuickstartUrls {
  readonly api: string
  readonly portal: string
  readonly dashboard: string
}

export interface QuickstartDependencies {
  readonly store: Store
  readonly folder: DataFolder
  readonly chains: ChainTable
  readonly urls: QuickstartUrls
  /** Null if this process creates no keystores, and therefore no deployment. */
  readonly keystores: { readonly passphrase: string; readonly workFactor: 'standard' | 'light' } | null
  /** If false, no organization, policy or key is created. */
  readonly demo: boolean
}

/** Deployment value: time of first startup. */
const FIRST_START = 'first_start_at_seconds'

/** The demo addresses are derived from hashes, so nobody owns them. */
const DEMO_CONTRACT = parseEvmAddress(
  `0x${createHash('sha256').update('countersign demo contract').digest('hex').slice(0, 40)}`,
) as WalletAddress
const DEMO_PROGRAM = bs58.encode(createHash('sha256').update('countersign demo program').digest()) as WalletAddress

const pendingPath = (folder: DataFolder): string => `${folder.quickstart}.pending`

const writePending = (folder: DataFolder, values: Readonly<Record<string, string>>): void => {
  const text = Object.entries(values).map(([name, value]) => `${name}=${value}\n`)
  const descriptor = openSync(pendingPath(folder), 'w', 0o600)
  writeSync(descriptor, text.join(''))
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** A policy, a project bound on every chain, and a key of each kind. Returns the values for `quickstart.env`. */
const makeDemo = async (
  tables: Tables,
  { chains }: QuickstartDependencies,
): Promise<Readonly<Record<string, string>>> => {
  const { document } = draftRevision(DEMO_POLICY).compiled
  const organization = await tables.organizations.create({ slug: 'demo', name: 'Demo' })
  const organizationId = organization.id
  const policy = await tables.policies.create({ organizationId, name: document.name })
  const revision = await tables.policies.saveRevision({
    organizationId,
    policyId: policy.id,
    source: DEMO_POLICY,
    quorum: document.quorum,
  })
  if (revision === null) throw new Error('the demo policy is missing within its own transaction')
  await tables.policies.activateRevision(organizationId, policy.id, revision.id)
  const project = await tables.projects.create({ organizationId, name: 'Demo project', policyId: policy.id })
  for (const chain of chains.chains) {
    const address = chain.family === 'evm' ? DEMO_CONTRACT : DEMO_PROGRAM
    await tables.bindings.create({ organizationId, projectId: project.id, chainName: chain.name, address })
  }
  const issue = async (
    kind: 'attestation' | 'identity' | 'admin',
    environment: 'live' | 'test' = 'live',
  ): Promise<string> => {
    const issued = await tables.apiKeys.issue({
      organizationId,
      kind,
      environment,
      name: `quick start ${environment === 'test' ? 'test ' : ''}${kind}`,
      expiresAtSeconds: null,
      rateLimit: null,
      // The person who starts the service administers the deployment.
      ...(kind === 'admin' ? { scopes: ['admin', 'deployment'] } : {}),
    })
    return issued.text
  }
  return {
    ATTESTATION_API_KEY: await issue('attestation'),
    IDENTITY_API_KEY: await issue('identity'),
    IDENTITY_TEST_API_KEY: await issue('identity', 'test'),
    ADMIN_API_KEY: await issue('admin'),
    VERIFICATION_HASH: project.verificationHash,
    POLICY_ID: policy.id,
    DEMO_CONTRACT,
    DEMO_PROGRAM,
  }
}

const urlValues = ({ api, portal, dashboard }: QuickstartUrls): Readonly<Record<string, string>> => ({
  ATTESTATION_URL: api,
  IDENTITY_URL: api,
  ADMIN_URL: `${dashboard}/admin/v1`,
  PORTAL_URL: portal,
  DASHBOARD_URL: dashboard,
})

/** Returns false if another node, started at the same time, has created the deployment. */
const seed = async (
  dependencies: QuickstartDependencies,
  evm: AttesterKeystore,
  solana: AttesterKeystore,
): Promise<boolean> => {
  const { store, folder, urls, demo } = dependencies
  return await store.transaction(async (tables) => {
    if (!(await tables.deployment.setOnce(FIRST_START, String(systemClock.unixSeconds())))) return false
    for (const { kind, address, path } of [evm, solana]) {
      await tables.attesters.add({ kind, address, keystoreFile: basename(path) })
    }
    const made = demo ? await makeDemo(tables, dependencies) : {}
    // Written before the commit: keys are shown once, so a commit without this file would lose them.
    writePending(folder, {
      ...urlValues(urls),
      ...made,
      EVM_ATTESTER: evm.address,
      SOLANA_ATTESTER: solana.address,
    })
    return true
  })
}

const readValues = (folder: DataFolder): Readonly<Record<string, string>> => {
  if (!existsSync(folder.quickstart)) return {}
  const lines = readFileSync(folder.quickstart, 'utf8').split('\n')
  return Object.fromEntries(
    lines
      .filter((line) => line.includes('='))
      .map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]),
  )
}

/** Leaves other lines unchanged, and doesn't create a moved file again. */
const updateUrls = async (folder: DataFolder, urls: QuickstartUrls): Promise<void> => {
  if (!existsSync(folder.quickstart)) return
  const text = readFileSync(folder.quickstart, 'utf8')
  const current = urlValues(urls)
  const updated = text.replace(/^([A-Z]+_URL)=.*$/gm, (line, name: string) =>
    current[name] === undefined ? line : `${name}=${current[name]}`,
  )
  // Several processes of a node may write at once.
  if (updated !== text) await writeDurably(folder.quickstart, `${folder.quickstart}.${process.pid}`, [updated])
}

export interface Quickstart {
  /** Whether this run created the deployment. */
  readonly first: boolean
  readonly values: Readonly<Record<string, string>>
}

/** @throws SettingInvalidError if the folder was used before: a new deployment would overwrite the old keys */
export const isFirstStart = async (store: Store, folder: DataFolder): Promise<boolean> => {
  if ((await store.deployment.read(FIRST_START)) !== null) return false
  // Deployments of older versions lack this value.
  if ((await store.organizations.list()).length > 0) return false
  const logged = existsSync(folder.decisions) && readdirSync(folder.decisions).length > 0
  if (existsSync(folder.quickstart) || logged) {
    throw new SettingInvalidError(
      `the database in ${folder.root} is empty, but the folder was used before: restore countersign.db, or choose another folder`,
    )
  }
  return true
}

/** Creates the deployment in an empty store. @throws SettingInvalidError if this process creates no keystores */
export const prepareQuickstart = async (dependencies: QuickstartDependencies): Promise<Quickstart> => {
  const { store, folder, keystores } = dependencies
  let first = await isFirstStart(store, folder)
  if (first) {
    if (keystores === null) {
      throw new SettingInvalidError(
        'no deployment exists yet: first start a process that serves attestation, which creates the attesters',
      )
    }
    const destination = { directory: folder.keystores, ...keystores }
    const evm = await createAttesterKeystore({ kind: 'secp256k1', ...destination })
    const solana = await createAttesterKeystore({ kind: 'ed25519', ...destination })
    const discard = (): void => {
      rmSync(pendingPath(folder), { force: true })
      for (const { path } of [evm, solana]) rmSync(path, { force: true })
    }
    try {
      first = await seed(dependencies, evm, solana)
    } catch (error) {
      discard()
      throw error
    }
    if (!first) discard()
  }
  // Also needed after a crash between the commit and this rename.
  if (existsSync(pendingPath(folder))) renameSync(pendingPath(folder), folder.quickstart)
  await updateUrls(folder, dependencies.urls)
  return { first, values: readValues(folder) }
}
