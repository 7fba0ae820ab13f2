// The checkpoint thread moves committed pages from the write-ahead log to the database file, so that the main thread
// never waits for the disk. https://sqlite.org/wal.html#ckpt, https://sqlite.org/pragma.html#pragma_wal_checkpoint
import { Database, SQLiteError } from 'bun:sqlite'
import type { CheckpointOrder } from './checkpoints.ts'
import { LOG_KEPT_BYTES, RESTART_PAGES } from './write-ahead-log.ts'

const LOOK_INTERVAL_MS = 100
/** Number of commits that trigger a checkpoint. With fewer commits, LONGEST_WAIT_MS triggers it. */
const COMMITS_MAX = 200
const LONGEST_WAIT_MS = 5_000
/** Maximum time for which a WAL reset blocks writers of other threads and processes. */
const BUSY_TIMEOUT_MS = 25

interface CheckpointRow {
  readonly busy: number
  readonly log: number
  readonly checkpointed: number
}

declare const self: Worker

const start = (path: string, commits: Int32Array): (() => void) => {
  const database = new Database(path, { readwrite: true, create: false })
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  database.run('PRAGMA fullfsync = ON')
  // This thread's own commits contain nothing that must survive a power loss.
  database.run('PRAGMA synchronous = NORMAL')
  // The first commit after a WAL reset truncates the file.
  database.run(`PRAGMA journal_size_limit = ${LOG_KEPT_BYTES}`)
  // Commits made before this thread started count too.
  let seen = 0
  let lastMs = performance.now()

  const checkpoint = (mode: 'PASSIVE' | 'RESTART'): { readonly pages: number; readonly areAllMoved: boolean } => {
    const row = database.query<CheckpointRow, []>(`PRAGMA wal_checkpoint(${mode})`).get()
    return { pages: row?.log ?? 0, areAllMoved: row !== null && row.checkpointed === row.log }
  }

  /** Makes the first commit after a WAL reset, which waits for fsync, in this thread. */
  const beginLog = database.transaction(() => {
    const version = database.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0
    // A commit must write a row; this value stays the same.
    database.run(`PRAGMA user_version = ${version}`)
  })

  const look = (): void => {
    const now = Atomics.load(commits, 0)
    if (now === seen || (now - seen < COMMITS_MAX && performance.now() - lastMs < LONGEST_WAIT_MS)) return
    seen = now
    lastMs = performance.now()
    try {
      const { pages, areAllMoved } = checkpoint('PASSIVE')
      // While writers continue, the log never becomes empty. If it is long, block writers to checkpoint the remainder.
      const isLogDone =
        pages >= RESTART_PAGES ? checkpoint('RESTART').areAllMoved : areAllMoved && Atomics.load(commits, 0) === now
      if (isLogDone) beginLog.immediate()
    } catch (error) {
      // The database is locked, or the disk is full: retry at the next check. The log keeps all commits.
      if (!(error instanceof SQLiteError)) throw error
    }
  }
  const timer = setInterval(look, LOOK_INTERVAL_MS)
  return () => {
    clearInterval(timer)
    database.close()
  }
}

let stop: () => void = () => undefined

self.onmessage = ({ data }: MessageEvent<CheckpointOrder>) => {
  if (data.type === 'start') stop = start(data.path, data.commits)
  else {
    stop()
    process.exit(0)
  }
}
