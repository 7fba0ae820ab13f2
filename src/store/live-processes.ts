// Live processes of the deployment. Each increments its own beat, so that clocks are never compared.

import { systemClock } from '../lib/time.ts'
import { hidden, integer, text } from './columns.ts'
import { databaseScope, reservedReads, reservedWrites, type TableScope } from './copy/table-scope.ts'
import type { Database } from './database.ts'
import { defineTable, type ItemOf } from './table.ts'

const PROCESSES = defineTable('live_processes', {
  id: text,
  name: text,
  beat: integer,
  /** Shared time of the processes in milliseconds (src/cluster/live-processes.ts). */
  clockMs: integer,
  startedAtSeconds: hidden(integer),
})

interface LiveProcess extends ItemOf<typeof PROCESSES> {}

export const createLiveProcessTable = (given: TableScope) => {
  // The next beat replaces a lost one.
  const scope = reservedWrites(given)
  return {
    beat: ({ id, name, beat, clockMs }: LiveProcess): Promise<void> =>
      PROCESSES.put(scope, { id }, { beat, clockMs }, { name, startedAtSeconds: scope.nowSeconds() }),

    list: (): Promise<readonly LiveProcess[]> => PROCESSES.list(reservedReads(scope), {}, ['id']),

    /** Removes a process if it still has this beat. @param beat null if the process itself ends */
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
  readonly wait: (milliseconds: number) => Promise<void>
}

/** Names of the processes whose beat advanced while this function watched. */
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
