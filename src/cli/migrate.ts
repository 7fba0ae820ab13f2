// `countersign migrate`: copies a database into an empty database. The source is marked as moved, so that no service
// continues to use it by mistake.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import {
  CommandFailedError,
  type CommandOutput,
  formatTable,
  parseCommand,
  UsageError,
} from '../command-line/output.ts'
import { runToExitCode } from '../command-line/print-error.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { unreadableText } from '../lib/named-error.ts'
import { systemClock } from '../lib/time.ts'
import { PROGRAM } from '../program/labels.ts'
import { dataFolderAt } from '../setup/data-folder.ts'
import { rememberedStore, rememberStore } from '../setup/store-location.ts'
import type { LogTreeTables } from '../store/copy/log-tree-tables.ts'
import { markMoved, unmarkMoved } from '../store/copy/moved.ts'
import { type CopiedTable, copyTables, openCopySource, openForCopying, openMoved } from '../store/copy/table-copy.ts'
import { databaseScope } from '../store/copy/table-scope.ts'
import { createLiveProcessTable, findUsers } from '../store/live-processes.ts'
import { type FolderLock, lockFolder } from '../store/sqlite/folder-lock.ts'
import { describeStore, parseStoreAddress, type StoreTarget } from '../store/store-address.ts'

const USAGE = `Usage: ${PROGRAM} migrate --from ADDRESS --to ADDRESS [--json]
       ${PROGRAM} migrate --take-back ADDRESS

Copies a database into an empty one, table by table, and compares the rows by count and SHA-256. If the command fails, the target stays empty. Stop all services that use the source first. The source keeps its content, but is marked as moved and can no longer be opened. A process that was suspended or disconnected stops when it reaches the source again.

ADDRESS is sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE. Put an address with a password into an environment variable
or a file, so that the process list doesn't show it: env:NAME or file:PATH. A PostgreSQL database must already exist.

--take-back makes a moved store usable again, without the changes made in the new store since. Stop all services on the new store first, and never use both.

The tree of the decision log is copied too: into PostgreSQL, or from there into the data folder. Keystores, evidence and the decision log stay in the data folder. Afterwards, set COUNTERSIGN_STORE to the target.
`

const PROGRESS_MS = 1_000

interface MigrateContext {
  readonly output: CommandOutput
  /** Data folder, whose service must be stopped. */
  readonly dataDirectory: string
  readonly treeTables: LogTreeTables | null
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly monotonicMs: () => number
  readonly wait: (milliseconds: number) => Promise<void>
}

const readAddress = (option: string, text: string, environment: MigrateContext['environment']): StoreTarget => {
  const [, kind, name = ''] = /^(env|file):(.*)$/s.exec(text) ?? []
  let address = text
  if (kind === 'env') address = environment[name] ?? ''
  if (kind === 'file') {
    try {
      address = readFileSync(name, 'utf8')
    } catch (error) {
      throw new SettingInvalidError(`the ${option} file ${unreadableText(error)}: ${name}`)
    }
  }
  try {
    const target = parseStoreAddress(address.trim())
    return target.kind === 'sqlite' ? { kind: 'sqlite', path: resolve(target.path) } : target
  } catch (error) {
    throw new UsageError(`${option} ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}

/** Prevents the service from starting during the copy. @throws StoreUnusableError if a service is running */
const lockSource = (dataDirectory: string, source: StoreTarget): readonly FolderLock[] => {
  const folders = new Set(source.kind === 'sqlite' ? [dirname(source.path)] : [])
  // The service of the configured data folder may use this database.
  if (existsSync(join(dataDirectory, 'service.lock'))) folders.add(dataDirectory)
  const locks: FolderLock[] = []
  try {
    for (const folder of folders) {
      const path = join(folder, 'service.lock')
      if (existsSync(path)) locks.push(lockFolder(path, folder))
    }
    return locks
  } catch (error) {
    for (const lock of locks) lock.release()
    throw error
  }
}

/** Replaces an older tree file, which is renamed. */
const takeTreeFile = (made: string, place: string): void => {
  const aside = `${place}.${new Date().toISOString().replaceAll(/[-:]/g, '')}`
  for (const suffix of ['-wal', '-shm', '']) {
    if (existsSync(place + suffix)) renameSync(place + suffix, aside + suffix)
  }
  renameSync(made, place)
}

/** Copies tables and tree: a file in the data folder with SQLite, in the database with PostgreSQL. */
const copyAll = async (source: StoreTarget, target: StoreTarget, context: MigrateContext, json: boolean) => {
  const { output, treeTables, monotonicMs, wait } = context
  const { decisionTree: treeFile } = dataFolderAt(resolve(context.dataDirectory))
  const from = await openCopySource(source)
  try {
    const users = await findUsers(from, { wait })
    if (users.length > 0) {
      throw new CommandFailedError(
        `${users.length} processes use ${describeStore(source)}: stop them (${users.join(', ')})`,
      )
    }
    const silent = await createLiveProcessTable(databaseScope(from, systemClock)).list()
    if (silent.length > 0) {
      const names = silent.map(({ name }) => name).join(', ')
      output.stderr(`Without a heartbeat: ${names}. If still running, they stop when they reach the source again.\n`)
    }
    const to = await openForCopying(target)
    try {
      let printedMs = monotonicMs()
      const newTree = `${treeFile}.${randomBytes(6).toString('hex')}.made`
      return await copyTables(from, to, {
        alongside: async (transaction) => {
          const tree: StoreTarget = source.kind === 'sqlite' ? { kind: 'sqlite', path: treeFile } : source
          if (target.kind === 'postgres') {
            if (source.kind === 'postgres' || existsSync(treeFile)) await treeTables?.copy(tree, to, transaction)
          } else if (source.kind === 'postgres') await treeTables?.copyToFile(tree, newTree)
        },
        onProgress: ({ table, rows, tablesDone, tablesTotal }) => {
          if (json || monotonicMs() - printedMs < PROGRESS_MS) return
          printedMs = monotonicMs()
          output.stderr(`${tablesDone} of ${tablesTotal} tables; ${table}: ${rows} rows\n`)
        },
        markSource: async (transaction) => {
          // A tree from before a migration to PostgreSQL may be in the folder.
          if (existsSync(newTree)) takeTreeFile(newTree, treeFile)
          await markMoved(transaction, target)
        },
      })
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}

const print = (copied: readonly CopiedTable[], target: StoreTarget, { stdout }: CommandOutput): void => {
  stdout(
    formatTable([['TABLE', 'ROWS', 'SHA-256'], ...copied.map(({ name, rows, sha256 }) => [name, `${rows}`, sha256])]),
  )
  const rows = copied.reduce((sum, table) => sum + table.rows, 0)
  stdout(
    `Copied ${copied.length} tables with ${rows} rows to ${describeStore(target)}. Both stores have identical content.\n`,
  )
  stdout(
    'Set COUNTERSIGN_STORE to the new store for the service and for commands. The source can no longer be opened.\n',
  )
}

/** Stores the target's location in each folder that used the source. */
const rememberInFolders = async (dataDirectory: string, source: StoreTarget, target: StoreTarget): Promise<void> => {
  const folder = dataFolderAt(resolve(dataDirectory))
  const holdsSource = source.kind === 'sqlite' && source.path === folder.database
  if (holdsSource || rememberedStore(folder) === describeStore(source)) await rememberStore(folder, target)
  if (source.kind === 'sqlite' && !holdsSource) {
    const other = dataFolderAt(dirname(source.path))
    if (source.path === other.database) await rememberStore(other, target)
  }
}

const takeBack = async (store: StoreTarget, dataDirectory: string, { stdout }: CommandOutput): Promise<void> => {
  const database = await openMoved(store)
  try {
    if (!(await unmarkMoved(database))) throw new CommandFailedError(`${describeStore(store)} was not moved`)
  } finally {
    await database.close()
  }
  const folder = dataFolderAt(resolve(dataDirectory))
  if (store.kind === 'sqlite' && store.path === folder.database) await rememberStore(folder, store)
  stdout(`${describeStore(store)} can be used again, in its state before the move.\n`)
}

/** Exit codes: 0 success, 1 failure without a copy, 2 invalid usage. */
export const runMigrate = (commandArguments: readonly string[], context: MigrateContext): Promise<number> =>
  runToExitCode(context.output, USAGE, commandArguments, async () => {
    const { output, environment, dataDirectory } = context
    const options = { from: { type: 'string' }, to: { type: 'string' }, json: { type: 'boolean' } } as const
    const command = parseCommand(commandArguments, {
      ...options,
      'take-back': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      output.stdout(USAGE)
      return 0
    }
    if (command.positionals.length > 0) throw new UsageError('migrate accepts only options')
    const moved = command.text('take-back')
    if (moved !== undefined) {
      if (command.text('from') !== undefined || command.text('to') !== undefined) {
        throw new UsageError('--take-back excludes all other options')
      }
      await takeBack(readAddress('--take-back', moved, environment), dataDirectory, output)
      return 0
    }
    const source = readAddress('--from', command.required('from'), environment)
    const target = readAddress('--to', command.required('to'), environment)
    if (source.kind === 'sqlite' && !existsSync(source.path)) {
      throw new CommandFailedError(`no database in ${source.path}`)
    }
    if (source.kind === 'sqlite' && target.kind === 'sqlite' && source.path === target.path) {
      throw new UsageError('--from and --to are the same')
    }
    const locks = lockSource(dataDirectory, source)
    try {
      const copied = await copyAll(source, target, context, command.flag('json'))
      await rememberInFolders(dataDirectory, source, target)
      if (command.flag('json')) output.stdout(`${JSON.stringify({ tables: copied })}\n`)
      else print(copied, target, output)
      return 0
    } finally {
      for (const lock of locks) lock.release()
    }
  })
