// `countersign restore --try`: restores to a temporary folder, and compares a service started from it on loopback.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { zeroAddress } from 'viem'
import { createCountersignClient } from '../../../client/client.ts'
import { checkDecisionProof } from '../../../client/decision-proof.ts'
import { RequestRefusedError } from '../../../client/errors.ts'
import { verifyEvmAttestation } from '../../../client/evm-attestation.ts'
import { CommandFailedError } from '../../../command-line/output.ts'
import { type DataFolder, dataFolderAt } from '../../../setup/data-folder.ts'
import { refusedPinFile } from '../../../signing/token-service.ts'
import { countLastingRows, revokeKeys } from '../../../store/copy/trial-database.ts'
import type { BackupManifest } from './backup-manifest.ts'
import type { RestoreContext } from './restore.ts'
import { startTrialService } from './trial-service.ts'

interface TrialFinding {
  readonly check: 'files' | 'token' | 'start' | 'database' | 'decisions' | 'last decision' | 'verdict'
  readonly result: 'ok' | 'problem' | 'left out'
  readonly detail: string
}

export interface TrialInput {
  readonly manifest: BackupManifest
  /** This deployment's data folder, whose secrets decrypt a backup without secrets. */
  readonly folder: DataFolder
  readonly secretSettings: Readonly<Record<string, string>>
  readonly inspectTokenKeys: RestoreContext['inspectTokenKeys']
  readonly restoreInto: (folder: DataFolder) => Promise<void>
  /** Runs a command with only these settings. @throws CommandFailedError */
  readonly run: (environment: Readonly<Record<string, string>>, ...words: readonly string[]) => Promise<string>
  readonly monotonicMs: () => number
  readonly signal: AbortSignal
}

/** Maximum wait until the service recognizes a new key, project or line; normally a second or two. */
const KNOWN_LIMIT_MS = 30_000
const RETRY_MS = 100
const ALLOWED = `0x${'11'.repeat(20)}` as const
const DENIED = `0x${'22'.repeat(20)}` as const
const EARLIER_SECRETS =
  'If a secret was rotated after the backup, set COUNTERSIGN_PASSPHRASE_FILE, COUNTERSIGN_EVIDENCE_KEY_FILE or COUNTERSIGN_ACCOUNT_KEY_FILE to the secret at the time of the backup (the file ending in .previous-1 or a higher number)'
const POLICY = `name: Trial of a restore
rules:
  - id: one-wallet
    allow: wallet.address == address("${ALLOWED}")
    code: ALLOWED
`

/** Twice the size, because the service derives an index and a tree. */
const requireRoom = (place: string, { files }: BackupManifest): void => {
  const needed = 2 * files.reduce((sum, { bytes }) => sum + bytes, 0)
  const { bavail, bsize } = statfsSync(place)
  if (bavail * bsize < needed) {
    throw new CommandFailedError(
      `${place} has too little free space for the trial (${needed} bytes): set TMPDIR to another folder`,
    )
  }
}

/** Copies secrets that neither the backup nor settings contain. */
const lendSecrets = (from: DataFolder, to: DataFolder): void => {
  for (const name of ['passphrase', 'evidenceKey', 'accountKey'] as const) {
    if (existsSync(to[name]) || !existsSync(from[name])) continue
    mkdirSync(dirname(to[name]), { recursive: true, mode: 0o700 })
    copyFileSync(from[name], join(dirname(to[name]), basename(from[name])))
  }
  // The trial must not retry a PIN that the token refused.
  const refused = refusedPinFile(from.tokenLogin)
  if (existsSync(refused)) copyFileSync(refused, refusedPinFile(to.tokenLogin))
}

const onceKnown = async <Result>(call: () => Promise<Result>, { monotonicMs, signal }: TrialInput): Promise<Result> => {
  const endMs = monotonicMs() + KNOWN_LIMIT_MS
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof RequestRefusedError) || monotonicMs() > endMs) throw error
      await sleep(RETRY_MS, undefined, { signal })
    }
  }
}

const compareCounts = (
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  { schema }: BackupManifest,
): TrialFinding => {
  const differing = [...before].filter(([table, rows]) => after.get(table) !== rows)
  const rows = [...before.values()].reduce((sum, count) => sum + count, 0)
  const [first] = differing
  if (first === undefined) {
    return {
      check: 'database',
      result: 'ok',
      detail: `${rows} rows in ${before.size} tables, all present after startup`,
    }
  }
  const [table, count] = first
  const detail = `${table} had ${count} rows, but has ${after.get(table) ?? 0} after startup (schema ${schema})`
  return { check: 'database', result: 'problem', detail }
}

export const tryRestore = async (input: TrialInput): Promise<readonly TrialFinding[]> => {
  const { manifest, restoreInto, run, monotonicMs, signal } = input
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-restore-trial-'))
  const folder = dataFolderAt(join(scratch, 'data'))
  const environment = { ...input.secretSettings, COUNTERSIGN_DATA_DIR: folder.root }
  const command = (...words: readonly string[]) => run(environment, ...words)
  const findings: TrialFinding[] = []
  const add = (check: TrialFinding['check'], result: TrialFinding['result'], detail: string): void =>
    // Missing files belong in the given folder, because the trial's folder is removed.
    void findings.push({ check, result, detail: detail.replaceAll(folder.root, input.folder.root) })
  const attempt = async (check: TrialFinding['check'], step: () => Promise<string>): Promise<void> => {
    try {
      add(check, 'ok', await step())
    } catch (error) {
      signal.throwIfAborted()
      add(check, 'problem', error instanceof Error ? error.message.trim() : 'it failed')
    }
  }
  try {
    requireRoom(scratch, manifest)
    await restoreInto(folder)
    add('files', 'ok', `${manifest.files.length} files, all match the manifest`)
    lendSecrets(input.folder, folder)
    for (const { subject, result, detail } of await input.inspectTokenKeys(manifest.tokenAttesters ?? [], folder)) {
      add('token', result === 'problem' ? 'problem' : 'ok', `${subject}: ${detail}`)
    }
    let last: { readonly uuid: string; readonly organization: string } | null = null
    if (manifest.withDecisions) {
      await attempt('decisions', async () => {
        // With PostgreSQL, there may be no tree; then only chains are verified.
        const chains = existsSync(folder.decisionTree) ? [] : ['--chains']
        const { decisions } = JSON.parse(await command('decisions', 'verify', '--json', ...chains)) as {
          decisions: number
        }
        const line = (await command('decisions', 'tail', '--lines', '1', '--json')).trim()
        if (line !== '') last = JSON.parse(line) as typeof last
        return `${decisions} decisions; the log is valid`
      })
      await command('decisions', 'begin-tree')
    } else add('decisions', 'left out', 'the backup has no decision log')

    revokeKeys(folder.database)
    const before = countLastingRows(folder.database)
    const startedMs = monotonicMs()
    const service = await startTrialService(environment, signal)
    try {
      add('start', 'ok', `ready after ${((monotonicMs() - startedMs) / 1_000).toFixed(1)} s`)
      findings.push(compareCounts(before, countLastingRows(folder.database), manifest))
      const overriding = ['--override-second-person', '--reason', 'trial of a restore'] as const
      const issueKey = async (organization: string): Promise<string> => {
        const words = ['--kind', 'attestation', '--name', 'trial of a restore', '--json'] as const
        return (JSON.parse(await command('key', 'create', '--org', organization, ...words)) as { key: string }).key
      }
      const clientWith = (attestationApiKey: string) =>
        createCountersignClient({ attestationUrl: service.url, attestationApiKey })

      if (last === null) add('last decision', 'left out', 'the backup has no decision')
      else {
        const { uuid, organization } = last as { uuid: string; organization: string }
        await attempt('last decision', async () => {
          const client = clientWith(await issueKey(organization))
          const proof = await onceKnown(() => client.proof(uuid), input)
          checkDecisionProof(proof, (await command('proof', 'key')).trim())
          return `${uuid}: found by the service, with a valid proof`
        })
      }
      const { data: attesters } = JSON.parse(await command('attester', 'list', '--json')) as {
        data: { kind: string; status: string }[]
      }
      const canSign = attesters.some(({ kind, status }) => kind === 'secp256k1' && status === 'active')
      if (!canSign) add('verdict', 'left out', 'no active attester for EVM chains')
      else
        await attempt('verdict', async () => {
          const slug = `restore-trial-${crypto.randomUUID().slice(0, 8)}`
          const policyFile = join(scratch, 'policy.yaml')
          writeFileSync(policyFile, POLICY)
          await command('org', 'create', slug, ...overriding)
          const organization = ['--org', slug, '--json', ...overriding] as const
          const { policy } = JSON.parse(await command('policy', 'apply', policyFile, ...organization)) as {
            policy: string
          }
          const made = await command('project', 'create', '--name', 'Trial', '--policy', policy, ...organization)
          const { verification_hash: verificationHash } = JSON.parse(made) as { verification_hash: string }
          const client = clientWith(await issueKey(slug))
          // The signature is for no contract, so it is useless.
          const ask = (from: `0x${string}`) => client.attest({ chain: 'ethereum', from, verificationHash })
          const allowed = await onceKnown(() => ask(ALLOWED), input)
          const denied = await ask(DENIED)
          if (!allowed.isCompliant || denied.isCompliant)
            throw new CommandFailedError('the verdicts do not match the policy')
          const call = { chainId: 1, from: ALLOWED, to: zeroAddress, verificationHash }
          if (!(await verifyEvmAttestation(call, allowed.attestation))) {
            throw new CommandFailedError('the signature does not match the attester')
          }
          return `one wallet allowed, signed by ${allowed.attestation.attester}, and one denied`
        })
    } finally {
      await service.stop()
    }
    return findings
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof CommandFailedError)) throw error
    const needsOwnSecrets = findings.length > 0 && !manifest.withSecrets
    add('start', 'problem', needsOwnSecrets ? `${error.message}. ${EARLIER_SECRETS}` : error.message)
    return findings
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
  }
}
