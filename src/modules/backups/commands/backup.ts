// `countersign backup`, even while the service runs. Evidence is copied before and after the database, so that the
// backup has all files that its database names.
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, openSync, readdirSync, statSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseDuration, parseWhole } from '../../../command-line/option-values.ts'
import { CommandFailedError, type CommandOutput, parseCommand, UsageError } from '../../../command-line/output.ts'
import { runToExitCode } from '../../../command-line/print-error.ts'
import { VERSION } from '../../../config/version.ts'
import { wholeLength } from '../../../decision-log/backwards.ts'
import { listSegments, listSlots } from '../../../decision-log/segment-name.ts'
import { CountersignError } from '../../../domain/errors.ts'
import { isMissingFile } from '../../../lib/named-error.ts'
import type { ShipPlace, ShipTarget } from '../../../object-store/ship-target.ts'
import { PROGRAM } from '../../../program/labels.ts'
import type { DataFolder } from '../../../setup/data-folder.ts'
import type { LogTreeTables } from '../../../store/copy/log-tree-tables.ts'
import { copyTables, openCopySource, openForCopying } from '../../../store/copy/table-copy.ts'
import { StoreUnusableError } from '../../../store/errors.ts'
import { MIGRATIONS } from '../../../store/migrations.ts'
import { describeSqlite, evidenceFilesOf, snapshotSqlite } from '../../../store/sqlite/sqlite-snapshot.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { authenticate, type EvidenceKeys } from './backup-authentication.ts'
import {
  BACKUP_FORMAT,
  type BackedUpFile,
  type BackupManifest,
  MANIFEST,
  manifestText,
  sha256Of,
} from './backup-manifest.ts'
import { createBackupBucket, createBackupFolder, readBucket } from './backup-place.ts'
import { runSeries } from './backup-series.ts'
import { copyFileHashed, syncPath, writeFileHashed } from './file-copy.ts'

const USAGE = `Usage: ${PROGRAM} backup --to FOLDER [--with-secrets] [--with-decisions] [--json]
       ${PROGRAM} backup --into PLACE [--every 24h] [--keep N] [--with-secrets] [--with-decisions] [--json]

Creates FOLDER (--to), or a folder in PLACE named by the current time (--into; a folder or s3://BUCKET/PREFIX). It contains the
database, the encrypted keystores and evidence, the settings of this command, and a manifest with the SHA-256 of each file,
which is authenticated with the evidence key.
The service can keep running and is not blocked. The database in the backup is always a SQLite file.

  --every DURATION  Run until interrupted, and create a backup whenever the newest in PLACE is this old (at least 1m; for example
                    24h or 7d). A failed backup is reported and retried within 15 minutes.
  --keep N          After each complete backup, delete all but the N newest of this deployment in PLACE. Backups that the
                    evidence key does not authenticate are neither counted nor deleted.
  --with-secrets    Include the secrets of the data folder: the passphrase, the evidence key, the key of one-time codes, the
                    first keys in quickstart.env, and the config file, whose RPC URLs can contain keys. Without them, a
                    restore needs the secrets from elsewhere.
  --with-decisions  Include the decision log of this node and the tree of all nodes. These can be large; decisions-ship copies
                    them continuously.

Backups don't contain attester keys in a hardware token: back up the token separately.

Buckets use the endpoint, region and credentials of decisions-ship. A backup for a bucket is first created in TMPDIR. It is as
sensitive as the database: enable encryption in the bucket, and store the secrets elsewhere.
`

interface BackupContext {
  readonly output: CommandOutput
  readonly folder: DataFolder
  readonly locateStore: () => Promise<StoreTarget>
  readonly describeSettings: () => Readonly<Record<string, unknown>>
  readonly configFile: string | null
  readonly openBucket: (place: ShipPlace) => ShipTarget
  readonly evidenceKeys: () => Promise<EvidenceKeys>
  /** If null, the tree isn't copied. */
  readonly treeTables: LogTreeTables | null
  readonly note: () => Promise<void>
  readonly now: () => Date
  readonly stopped: () => AbortSignal
}

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.endsWith('.tmp') && !entry.name.startsWith('.'))
        .map(({ name }) => name)
    : []

const recordedLength = (path: string): number => {
  const descriptor = openSync(path, 'r')
  try {
    return wholeLength(descriptor, statSync(path).size)
  } finally {
    closeSync(descriptor)
  }
}

const removeSqlite = async (path: string): Promise<void> => {
  for (const suffix of ['', '-wal', '-shm']) await rm(path + suffix, { force: true })
}

const copyDatabase = async (source: StoreTarget, to: string): Promise<void> => {
  if (source.kind === 'sqlite') {
    snapshotSqlite(source.path, to)
    return
  }
  const tables = `${to}.tables`
  const from = await openCopySource(source)
  try {
    const target = await openForCopying({ kind: 'sqlite', path: tables })
    try {
      await copyTables(from, target)
    } finally {
      await target.close()
    }
  } finally {
    await from.close()
  }
  snapshotSqlite(tables, to)
  await removeSqlite(tables)
}

const copyTree = async (source: StoreTarget, { folder, treeTables }: BackupContext, to: string): Promise<boolean> => {
  if (source.kind === 'sqlite') {
    if (!existsSync(folder.decisionTree)) return false
    snapshotSqlite(folder.decisionTree, to)
    return true
  }
  const tables = `${to}.tables`
  const hasTree = (await treeTables?.copyToFile(source, tables)) ?? false
  if (hasTree) snapshotSqlite(tables, to)
  await removeSqlite(tables)
  return hasTree
}

/** Changes with a rotation: files copied before and after a rotation would be inconsistent. */
const describeSecrets = async ({ folder, evidenceKeys }: BackupContext): Promise<string> => {
  const secrets = dirname(folder.passphrase)
  const describe = (name: string): string => {
    const { ino, mtimeMs, size } = statSync(join(secrets, name))
    return `${name} ${ino} ${mtimeMs} ${size}`
  }
  // The evidence key can be in a file elsewhere.
  const keys = (await evidenceKeys()).map((key) => Buffer.from(key).toString('hex'))
  return [...filesIn(secrets).map(describe).sort(), ...keys].join('\n')
}

/** Accepts files whose evidence was erased after the database was copied. @throws CommandFailedError for other files */
const requireErased = async (names: readonly string[], source: StoreTarget, folder: string): Promise<void> => {
  const database = await openCopySource(source)
  try {
    for (const name of names) {
      const kept = await database.query(
        'SELECT storage_name FROM session_evidence WHERE storage_name = ? AND wrapped_key IS NOT NULL',
        [name],
      )
      if (kept.length === 0) continue
      throw new CommandFailedError(`${join(folder, name)} is missing: check that the evidence folder is mounted`)
    }
  } finally {
    await database.close()
  }
}

/** Maximum further copies of the database while persons replace evidence. */
const DATABASE_RETRIES = 3

interface Choice {
  readonly withSecrets: boolean
  readonly withDecisions: boolean
}

const fill = async (
  into: string,
  source: StoreTarget,
  context: BackupContext,
  choice: Choice,
): Promise<BackupManifest> => {
  const { folder, configFile, now } = context
  const files: BackedUpFile[] = []
  const createdAt = now().toISOString()
  const secretsBefore = await describeSecrets(context)
  const copy = async (from: string, path: string, length?: number): Promise<void> => {
    try {
      files.push({ path, ...(await copyFileHashed(from, join(into, path), length)) })
    } catch (error) {
      // Evidence erased since the database was copied; its file is useless without the key.
      if (!(path.startsWith('evidence/') && isMissingFile(error))) throw error
    }
  }

  const copyEvidence = async (isNeeded: (name: string) => boolean): Promise<void> => {
    const copied = new Set(files.map(({ path }) => path))
    for (const name of filesIn(folder.evidence)) {
      const path = `evidence/${name}`
      if (isNeeded(name) && !copied.has(path)) await copy(join(folder.evidence, name), path)
    }
  }
  const database = join(into, 'countersign.db.made')
  const copyDatabaseAndEvidence = async (retries: number): Promise<ReturnType<typeof describeSqlite>> => {
    await copyDatabase(source, database)
    const facts = describeSqlite(database)
    const needed = new Set(evidenceFilesOf(database))
    await copyEvidence((name) => needed.has(name))
    for (const { path } of files) needed.delete(basename(path))
    if (needed.size === 0) return facts
    await requireErased([...needed], source, folder.evidence)
    // A person may have replaced the evidence. Only a later copy of the database names its replacement.
    if (retries === 0) return facts
    await rm(database)
    return copyDatabaseAndEvidence(retries - 1)
  }
  await copyEvidence(() => true)
  const facts = await copyDatabaseAndEvidence(DATABASE_RETRIES)
  await copy(database, 'countersign.db')
  await rm(database)

  for (const name of filesIn(folder.keystores)) await copy(join(folder.keystores, name), `keystores/${name}`)
  if (choice.withSecrets) {
    const secrets = dirname(folder.passphrase)
    for (const name of filesIn(secrets)) await copy(join(secrets, name), `secrets/${name}`)
    if (existsSync(folder.quickstart)) await copy(folder.quickstart, 'quickstart.env')
    if (configFile !== null) await copy(configFile, 'config-file')
  }
  if (choice.withDecisions) {
    // Copied before the log, so that the log contains all lines of the tree.
    const tree = join(into, 'decision-tree.db.made')
    if (await copyTree(source, context, tree)) {
      await copy(tree, 'decision-tree.db')
      await rm(tree)
    }
    for (const name of filesIn(folder.decisions)) await copy(join(folder.decisions, name), `decisions/${name}`)
    for (const slot of listSlots(folder.decisions)) {
      for (const { name } of listSegments(join(folder.decisions, slot))) {
        const path = join(folder.decisions, slot, name)
        await copy(path, `decisions/${slot}/${name}`, recordedLength(path))
      }
    }
  }
  const settings = `${JSON.stringify(context.describeSettings(), null, 2)}\n`
  files.push({ path: 'settings.json', ...(await writeFileHashed(join(into, 'settings.json'), settings)) })

  if ((await describeSecrets(context)) !== secretsBefore) {
    throw new CommandFailedError('a secret was rotated during the backup: run the backup again after the rotation')
  }
  const unsigned: BackupManifest = {
    format: BACKUP_FORMAT,
    version: VERSION,
    createdAt,
    ...facts,
    store: source.kind,
    ...choice,
    files,
  }
  const manifest = authenticate(unsigned, await context.evidenceKeys())
  // Written last, because the manifest marks the backup as complete.
  await writeFileHashed(join(into, MANIFEST), manifestText(manifest))
  for (const name of new Set(files.map(({ path }) => dirname(path)))) await syncPath(join(into, name))
  await syncPath(into)
  return manifest
}

const print = (
  manifest: BackupManifest,
  to: string,
  { configFile, output: { stdout, stderr } }: BackupContext,
): void => {
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
  stdout(`${to}: ${manifest.files.length} files, ${bytes} bytes, each with its SHA-256 in ${MANIFEST}\n`)
  stdout(`SHA-256 of ${MANIFEST}: ${sha256Of(manifestText(manifest))}\n`)
  if (manifest.mac === undefined) {
    stderr(
      'Not authenticated: this command has no evidence key. Set COUNTERSIGN_EVIDENCE_KEY_FILE to the deployment’s evidence key.\n',
    )
  }
  if (!manifest.withSecrets) {
    stderr(
      'Not included: passphrase, evidence key and account key. Encrypted data cannot be read without them: store them elsewhere.\n',
    )
    if (configFile !== null) stderr(`Not included: ${configFile}, which can contain keys: store it elsewhere.\n`)
  }
  const { tokenAttesters = [] } = manifest
  if (tokenAttesters.length > 0) {
    const addresses = tokenAttesters.map(({ address }) => address).join(', ')
    stderr(`Not included: the keys of ${addresses}. They are in the hardware token: back up the token separately.\n`)
  }
  if (!manifest.withDecisions) stderr('Not included: the decision log (use --with-decisions or decisions-ship).\n')
}

/** A failure is only a warning, because the backup is valid. */
const noteBackup = async ({ schema }: BackupManifest, { note, output }: BackupContext): Promise<void> => {
  try {
    // Opening an older store would migrate it, but this backup may precede an upgrade.
    if (schema === MIGRATIONS.length) {
      await note()
      return
    }
    output.stderr('Not recorded in the audit log: the database version differs from this command’s version.\n')
  } catch (error) {
    const why = error instanceof StoreUnusableError || error instanceof CountersignError ? error.detail : 'it failed'
    output.stderr(`Not recorded in the audit log: ${why}.\n`)
  }
}

const make = async (to: string, choice: Choice, context: BackupContext): Promise<BackupManifest> => {
  if (existsSync(to)) throw new CommandFailedError(`${to} already exists: choose a new folder`)
  if (!existsSync(context.folder.keystores)) {
    throw new CommandFailedError(`no deployment in ${context.folder.root}`)
  }
  const partial = join(dirname(to), `.${basename(to)}.${randomBytes(6).toString('hex')}.partial`)
  await mkdir(partial, { recursive: true, mode: 0o700 })
  try {
    const manifest = await fill(partial, await context.locateStore(), context, choice)
    await rename(partial, to)
    await syncPath(dirname(to))
    return manifest
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

const EVERY_MIN_SECONDS = 60

const readInterval = (text: string | undefined): number | null => {
  if (text === undefined) return null
  const seconds = parseDuration(text, '--every')
  if (seconds < EVERY_MIN_SECONDS) throw new UsageError('--every must be at least 1m')
  return seconds * 1000
}

const readKeep = (text: string | undefined): number | null => {
  if (text === undefined) return null
  const keep = parseWhole(text, '--keep')
  if (keep < 1) throw new UsageError('--keep must be at least 1')
  return keep
}

const sleepUnless = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  try {
    await sleep(milliseconds, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Exit codes: 0 success, 1 failure without leftovers, 2 usage error. */
export const runBackup = (commandArguments: readonly string[], context: BackupContext): Promise<number> =>
  runToExitCode(context.output, USAGE, commandArguments, async () => {
    const { output } = context
    const command = parseCommand(commandArguments, {
      to: { type: 'string' },
      into: { type: 'string' },
      every: { type: 'string' },
      keep: { type: 'string' },
      'with-secrets': { type: 'boolean' },
      'with-decisions': { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      output.stdout(USAGE)
      return 0
    }
    if (command.positionals.length > 0) throw new UsageError('backup accepts only options')
    const choice = { withSecrets: command.flag('with-secrets'), withDecisions: command.flag('with-decisions') }
    const makeIn = (to: string): Promise<BackupManifest> => make(to, choice, context)
    const report = async (where: string, manifest: BackupManifest): Promise<void> => {
      if (command.flag('json')) output.stdout(`${JSON.stringify({ folder: where, ...manifest })}\n`)
      else print(manifest, where, context)
      await noteBackup(manifest, context)
    }
    const everyMs = readInterval(command.text('every'))
    const keep = readKeep(command.text('keep'))
    if (command.text('into') === undefined) {
      if (everyMs !== null || keep !== null) throw new UsageError('--every and --keep require --into')
      const to = command.text('to')
      if (to === undefined || to === '') throw new UsageError('--to or --into is required')
      const folder = resolve(to)
      await report(folder, await makeIn(folder))
      return 0
    }
    if (command.text('to') !== undefined) throw new UsageError('use --to or --into, not both')
    const into = command.required('into')
    return runSeries({
      place: into.startsWith('s3://')
        ? createBackupBucket(context.openBucket(readBucket(into, '--into')), makeIn, context.evidenceKeys)
        : createBackupFolder(resolve(into), makeIn, context.evidenceKeys),
      everyMs,
      keep,
      output,
      now: context.now,
      sleep: sleepUnless,
      signal: everyMs === null ? new AbortController().signal : context.stopped(),
      report,
    })
  })
