// `countersign restore`: atomically creates a data folder and the configured database from a verified backup.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import {
  CommandFailedError,
  type CommandOutput,
  formatTable,
  type ParsedCommand,
  parseCommand,
  UsageError,
} from '../../../command-line/output.ts'
import { runToExitCode } from '../../../command-line/print-error.ts'
import type { ShipPlace, ShipTarget } from '../../../object-store/ship-target.ts'
import { PROGRAM } from '../../../program/labels.ts'
import type { DataFolder } from '../../../setup/data-folder.ts'
import type { Finding } from '../../../setup/finding.ts'
import { rememberStore } from '../../../setup/store-location.ts'
import type { LogTreeTables } from '../../../store/copy/log-tree-tables.ts'
import { copyTables, openForCopying } from '../../../store/copy/table-copy.ts'
import type { Transaction } from '../../../store/database.ts'
import type { TokenAttester } from '../../../store/sqlite/sqlite-snapshot.ts'
import { describeStore, type StoreTarget } from '../../../store/store-address.ts'
import { type EvidenceKeys, requireAuthentic } from './backup-authentication.ts'
import { type BackupManifest, verifyBackup } from './backup-manifest.ts'
import { fetchBackup, readBucket } from './backup-place.ts'
import { copyFileHashed, syncPath } from './file-copy.ts'
import { type TrialInput, tryRestore } from './restore-trial.ts'

const USAGE = `Usage: ${PROGRAM} restore --from FOLDER --data-dir NEW-FOLDER [--unauthenticated] [--json]
       ${PROGRAM} restore --from FOLDER --check [--unauthenticated] [--json]
       ${PROGRAM} restore --from FOLDER --try [--unauthenticated] [--json]

FOLDER is a backup on this machine or in a bucket (s3://BUCKET/PREFIX/2026-11-23T04-30-00Z, which is first copied to TMPDIR).
Compares every file of the backup with its manifest, then creates the data folder, which must be missing or empty. If
COUNTERSIGN_STORE is the address of a PostgreSQL database, which must be empty, the tables are restored there.

If COUNTERSIGN_EVIDENCE_KEY_FILE or COUNTERSIGN_EVIDENCE_KEY is set to the evidence key of the deployment, a backup that this
key does not authenticate is refused. Without the key, the command prints the SHA-256 of the manifest for you to compare.

  --unauthenticated  Restore the backup even if the evidence key does not authenticate it, for example because an older version
                     created it.

Backups don't contain attester keys in a hardware token. The command reports for each of these keys whether pkcs11-module,
pkcs11-token and COUNTERSIGN_PKCS11_PIN give access to it.

With --check, the command only checks the authentication and compares the files.

With --try, it also restores into a temporary folder (in TMPDIR; about twice the size of the backup), starts a service from
it on loopback, and compares the rows of the tables, the decision log, the proof of its last decision, and a verdict with its
signature. Then it deletes everything. If the backup has no secrets, those of --data-dir or of the settings are used. The
trial sends no webhooks, fetches no lists, ships nothing, and signs no heads with the log key of the deployment. It exits
with 1 if anything differs.
with 1 if anything differs.
`

const PROGRESS_MS = 1_000
const DATABASE = 'countersign.db'

export interface RestoreContext {
  readonly output: CommandOutput
  readonly folder: DataFolder
  readonly locateStore: () => Promise<StoreTarget>
  readonly monotonicMs: () => number
  readonly openBucket: (place: ShipPlace) => ShipTarget
  readonly evidenceKeys: () => Promise<EvidenceKeys>
  /** If null, a tree stays in its file. */
  readonly treeTables: LogTreeTables | null
  /** Requests a test signature from each key in the token. */
  readonly inspectTokenKeys: (attesters: readonly TokenAttester[], folder: DataFolder) => Promise<readonly Finding[]>
  readonly trial: () => Pick<TrialInput, 'run' | 'secretSettings' | 'signal'>
}

const isForDataFolder = (path: string): boolean => path !== 'settings.json' && path !== 'config-file'

/** Created by file systems in a new volume. */
const OF_THE_SYSTEM = 'lost+found'

const requireRoom = (root: string): void => {
  if (existsSync(root) && readdirSync(root).some((name) => name !== OF_THE_SYSTEM)) {
    throw new CommandFailedError(`${root} is not empty: choose a new --data-dir`)
  }
}

/** Verifies each file again while copying. */
const fill = async (into: string, from: string, manifest: BackupManifest): Promise<void> => {
  for (const file of manifest.files.filter(({ path }) => isForDataFolder(path))) {
    const { sha256 } = await copyFileHashed(join(from, file.path), join(into, file.path))
    if (sha256 !== file.sha256) throw new CommandFailedError(`${file.path} changed during the restore`)
  }
  const folders = manifest.files.map(({ path }) => dirname(join(into, path))).filter((path) => existsSync(path))
  for (const path of new Set(folders)) await syncPath(path)
}

const fillDatabase = async (
  path: string,
  target: StoreTarget,
  tree: string | null,
  treeTables: LogTreeTables | null,
): Promise<void> => {
  const source = await openForCopying({ kind: 'sqlite', path })
  try {
    const database = await openForCopying(target)
    try {
      const alongside = async (transaction: Transaction): Promise<void> => {
        if (tree !== null) await treeTables?.copy({ kind: 'sqlite', path: tree }, database, transaction)
      }
      await copyTables(source, database, { alongside })
    } finally {
      await database.close()
    }
  } finally {
    await source.close()
  }
  for (const file of [path, ...(tree === null ? [] : [tree])]) {
    for (const suffix of ['', '-wal', '-shm']) await rm(file + suffix, { force: true })
  }
}

/** The folder may be a volume. The database is last, because it makes the folder a deployment. */
const moveInto = async (root: string, partial: string): Promise<void> => {
  const names = readdirSync(partial).sort((left, right) => Number(left === DATABASE) - Number(right === DATABASE))
  const moved: string[] = []
  try {
    for (const name of names) {
      await rename(join(partial, name), join(root, name))
      moved.push(name)
    }
    await rmdir(partial)
    await syncPath(root)
  } catch (error) {
    for (const name of moved) await rm(join(root, name), { recursive: true, force: true })
    throw error
  }
}

const restoreTo = async (
  from: string,
  manifest: BackupManifest,
  folder: DataFolder,
  target: StoreTarget,
  treeTables: LogTreeTables | null,
) => {
  const { root } = folder
  const elsewhere = target.kind === 'postgres' || resolve(target.path) !== resolve(folder.database)
  const existed = existsSync(root)
  const name = `.${basename(root)}.${randomBytes(6).toString('hex')}.partial`
  // Created on the destination's volume, so that it can be renamed.
  const partial = join(existed ? root : dirname(root), name)
  await mkdir(partial, { recursive: true, mode: 0o700 })
  try {
    await fill(partial, from, manifest)
    // Order: the steps that may fail, then the tables, and last the rename, which rarely fails.
    const tree = join(partial, basename(folder.decisionTree))
    const hasTree = existsSync(tree)
    if (hasTree) await treeTables?.forgetAuditHead({ kind: 'sqlite', path: tree })
    const moves = hasTree && treeTables !== null && target.kind === 'postgres'
    if (elsewhere) await fillDatabase(join(partial, DATABASE), target, moves ? tree : null, treeTables)
    await rememberStore({ database: folder.database, storePlace: join(partial, basename(folder.storePlace)) }, target)
    if (existed) await moveInto(root, partial)
    else {
      await rename(partial, root)
      await syncPath(dirname(root))
    }
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

const print = (
  from: string,
  manifest: BackupManifest,
  folder: DataFolder,
  target: StoreTarget,
  output: CommandOutput,
) => {
  output.stdout(`Restored the deployment ${manifest.deploymentId} as of ${manifest.createdAt} to ${folder.root}.\n`)
  if (target.kind === 'postgres') output.stdout(`Its tables are in ${describeStore(target)}.\n`)
  if (!manifest.withSecrets) {
    output.stderr(
      `Before starting the service, copy passphrase, evidence-key and account-key of ${manifest.createdAt} to\n`,
    )
    output.stderr(`${dirname(folder.passphrase)}, unless settings locate them.\n`)
  }
  output.stderr(`Settings from environment variables at the time of the backup are in ${from}/settings.json.\n`)
  const hasConfig = manifest.files.some(({ path }) => path === 'config-file')
  if (hasConfig) output.stderr(`The config file is ${from}/config-file: pass it with --config.\n`)
}

const restoreFrom = async (
  from: string,
  given: string,
  command: ParsedCommand,
  context: RestoreContext,
): Promise<number> => {
  const { output, folder, monotonicMs } = context
  const json = command.flag('json')
  let printedMs = monotonicMs()
  const verified = await verifyBackup(from, ({ bytes, bytesTotal }) => {
    if (json || monotonicMs() - printedMs < PROGRESS_MS) return
    printedMs = monotonicMs()
    output.stderr(`compared ${Math.floor((100 * bytes) / Math.max(bytesTotal, 1))}% of ${bytesTotal} bytes\n`)
  })
  const { manifest } = verified
  const policy = { keys: await context.evidenceKeys(), mayBeUnauthenticated: command.flag('unauthenticated') }
  const authenticated = requireAuthentic(verified, policy, output)
  const { files, mac: _, ...content } = manifest
  const facts = { ...content, authenticated }
  if (command.flag('check')) {
    output.stdout(
      json
        ? `${JSON.stringify({ ...facts, files: files.length })}\n`
        : `${given}: ${files.length} files, all valid${authenticated ? ', authenticated with the evidence key' : ''}\n`,
    )
    return 0
  }
  if (command.flag('try')) {
    const findings = await tryRestore({
      manifest,
      folder,
      monotonicMs,
      inspectTokenKeys: context.inspectTokenKeys,
      restoreInto: (into) =>
        restoreTo(from, manifest, into, { kind: 'sqlite', path: into.database }, context.treeTables),
      ...context.trial(),
    })
    const ok = findings.every(({ result }) => result !== 'problem')
    if (json) output.stdout(`${JSON.stringify({ ok, ...facts, findings })}\n`)
    else output.stdout(formatTable(findings.map(({ check, result, detail }) => [check, result, detail])))
    return ok ? 0 : 1
  }
  const target = await context.locateStore()
  await restoreTo(from, manifest, folder, target, context.treeTables)
  const tokenKeys = await context.inspectTokenKeys(manifest.tokenAttesters ?? [], folder)
  if (json) output.stdout(`${JSON.stringify({ ...facts, files: files.length, dataFolder: folder.root, tokenKeys })}\n`)
  else print(given, manifest, folder, target, output)
  for (const { subject, result, detail } of tokenKeys) output.stderr(`attester ${subject}: ${result}: ${detail}\n`)
  return 0
}

/** Exit codes: 0 success, 1 failure without changes, 2 usage error. */
export const runRestore = (commandArguments: readonly string[], context: RestoreContext): Promise<number> =>
  runToExitCode(context.output, USAGE, commandArguments, async () => {
    const { output, folder } = context
    const command = parseCommand(commandArguments, {
      from: { type: 'string' },
      check: { type: 'boolean' },
      try: { type: 'boolean' },
      unauthenticated: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      output.stdout(USAGE)
      return 0
    }
    if (command.positionals.length > 0) throw new UsageError('restore accepts only options')
    const given = command.required('from')
    const isTrial = command.flag('try')
    if (isTrial && command.flag('check')) throw new UsageError('use --check or --try, not both')
    if (!isTrial && !command.flag('check')) requireRoom(folder.root)
    if (!given.startsWith('s3://')) return restoreFrom(resolve(given), resolve(given), command, context)
    const copy = await mkdtemp(join(tmpdir(), 'countersign-restore-'))
    try {
      await fetchBackup(context.openBucket(readBucket(given, '--from')), copy)
      return await restoreFrom(copy, given, command, context)
    } finally {
      await rm(copy, { recursive: true, force: true })
    }
  })
