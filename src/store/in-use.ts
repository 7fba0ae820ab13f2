// Finds processes that serve from a database by their beat, which every live process increments (live-processes.ts).
import { systemClock } from '../lib/time.ts'
import { databaseScope } from './copy/table-scope.ts'
import type { Database } from './database.ts'
import { createLiveProcessTable } from './live-processes.ts'

/** Longer than three beats. */
const WATCH_MS = 7_000
const LOOK_MS = 500

export interface InUseOptions {
  /** Resolves after that many milliseconds. */
  readonly wait: (milliseconds: number) => Promise<void>
}

/** Names of processes whose beat increased while it was watched; empty immediately when no process has left a row. */
export const findUsers = async (database: Database, { wait }: InUseOptions): Promise<readonly string[]> => {
  const table = createLiveProcessTable(databaseScope(database, systemClock))
  const first = new Map((await table.list()).map(({ id, beat }) => [id, beat]))
  for (let watchedMs = 0; first.size > 0 && watchedMs < WATCH_MS; watchedMs += LOOK_MS) {
    await wait(LOOK_MS)
    const risen = (await table.list()).filter(({ id, beat }) => first.get(id) !== beat)
    if (risen.length > 0) return risen.map(({ name }) => name)
  }
  return []
}
