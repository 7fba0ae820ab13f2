// The live processes of the deployment. Each process increments its own beat, and readers check whether the beat
// increases; clocks are never compared. No row belongs to an organization.

import { systemClock } from '../lib/time.ts'
import { hidden, integer, text } from './columns.ts'
import { databaseScope, reservedReads, reservedWrites, type TableScope } from './copy/table-scope.ts'
import type { Database } from './database.ts'
import { defineTable, type ItemOf } from './table.ts'

const PROCESSES = defineTable('live_processes', {
  id: text,
  /** For display: the machine's name and the process id. */
  name: text,
  beat: integer,
  /** The processes' shared time (src/cluster/shared-time.ts), in milliseconds. */
  clockMs: integer,
  startedAtSeconds: hidden(integer),
})

interface LiveProcess extends ItemOf<typeof PROCESSES> {}

export const createLiveProcessTable = (given: TableScope) => {
  // The next beat replaces a lost beat.
  const scope = reservedWrites(given)
  return {
    /** Reports that the process is alive. Recreates the row if it was removed in the meantime. */
    beat: ({ id, name, beat, clockMs }: LiveProcess): Promise<void> =>
      PROCESSES.put(scope, { id }, { beat, clockMs }, { name, startedAtSeconds: scope.nowSeconds() }),

    /** Returns all rows, including dead processes that are not removed yet. */
    list: (): Promise<readonly LiveProcess[]> => PROCESSES.list(reservedReads(scope), {}, ['id']),

    /**
     * Removes a process that seemed dead at this beat. Does nothing if the beat has increased since.
     * @param beat null if the process itself ends, regardless of its last stored beat
     */
    remove: async (id: string, beat: number | null): Promise<void> => {
      await PROCESSES.removeAll(scope, beat === null ? { id } : { id, beat })
    },
  }
}

export type LiveProcessTable = ReturnType<typeof createLiveProcessTable>

/** Longer than three beats. */
const WATCH_MS = 7_000
const LOOK_MS = 500

export interface InUseOptions {
  /** Resolves after the given number of milliseconds. */
  readonly wait: (milliseconds: number) => Promise<void>
}

/**
 * Returns the names of the processes whose heartbeat advanced while this function watched. Returns an empty list
 * immediately if no process has a row.
 */
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
