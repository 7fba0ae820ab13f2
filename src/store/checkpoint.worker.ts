// The thread that moves what is committed from the write-ahead log into the database file, so that the thread that answers
// requests never waits for the disk to take it. Holds a connection of its own; ends when told to, never by force.
// Source: https://sqlite.org/wal.html#ckpt, https://sqlite.org/pragma.html#pragma_wal_checkpoint.
import { Database, SQLiteError } from 'bun:sqlite'
import type { CheckpointOrder } from './checkpoints.ts'
import { LOG_KEPT_BYTES, RESTART_PAGES } from './write-ahead-log.ts'

/** How often commits are counted. */
const LOOK_INTERVAL_MS = 100
/** Commits after which their pages are moved; fewer are moved when this much time has passed. */
const COMMITS_MAX = 200
const LONGEST_WAIT_MS = 5_000
/** How long writers of other threads and processes may be kept out while the log is begun anew. */
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
  // Its own commits hold nothing that a power cut could take.
  database.run('PRAGMA synchronous = NORMAL')
  // Whoever commits first into a log cuts its file.
  database.run(`PRAGMA journal_size_limit = ${LOG_KEPT_BYTES}`)
  // From the first on: what was committed before this thread had begun is to be moved as well.
  let seen = 0
  let lastMs = performance.now()

  const checkpoint = (mode: 'PASSIVE' | 'RESTART'): { readonly pages: number; readonly areAllMoved: boolean } => {
    const row = database.query<CheckpointRow, []>(`PRAGMA wal_checkpoint(${mode})`).get()
    return { pages: row?.log ?? 0, areAllMoved: row !== null && row.checkpointed === row.log }
  }

  /** Whoever commits first into a log of which all was moved waits for the disk, so it had better be this thread. */
  const beginLog = database.transaction(() => {
    const version = database.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0
    // A commit needs something that was written. What it is does not matter, and this changes nothing.
    database.run(`PRAGMA user_version = ${version}`)
  })

  const look = (): void => {
    const now = Atomics.load(commits, 0)
    if (now === seen || (now - seen < COMMITS_MAX && performance.now() - lastMs < LONGEST_WAIT_MS)) return
    seen = now
    lastMs = performance.now()
    try {
      const { pages, areAllMoved } = checkpoint('PASSIVE')
      // While writers go on there is always a little more in the log than was moved, and it would grow for ever: once it
      // is long, the rest is moved while writers wait, which is little, since the most was moved just before.
      const isLogDone =
        pages >= RESTART_PAGES ? checkpoint('RESTART').areAllMoved : areAllMoved && Atomics.load(commits, 0) === now
      if (isLogDone) beginLog.immediate()
    } catch (error) {
      // Locked, or the disk is full: tried again at the next look. The log keeps what is committed.
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
