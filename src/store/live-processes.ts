// The live processes of the deployment: each increments its own beat now and then, and readers check whether the beat
// increases; they never compare clocks. The deployment's own administration: no row belongs to an organization.

import { systemClock } from '../lib/time.ts'
import { hidden, integer, text } from './columns.ts'
import { databaseScope, survivingCrashes, type TableScope } from './copy/table-scope.ts'
import type { Database } from './database.ts'
import { defineTable, type ItemOf } from './table.ts'

const PROCESSES = defineTable('live_processes', {
  id: text,
  /** For people: the machine's name and the process's number. */
  name: text,
  beat: integer,
  /** The processes' own time (src/cluster/shared-time.ts), milliseconds. */
  clockMs: integer,
  startedAtSeconds: hidden(integer),
})

interface LiveProcess extends ItemOf<typeof PROCESSES> {}

export const createLiveProcessTable = (given: TableScope) => {
  // A lost beat is made up by the next one.
  const scope = survivingCrashes(given)
  return {
    /** Reports that the process lives. Creates the row again if it was removed because the process seemed dead. */
    beat: ({ id, name, beat, clockMs }: LiveProcess): Promise<void> =>
      PROCESSES.put(scope, { id }, { beat, clockMs }, { name, startedAtSeconds: scope.nowSeconds() }),

    /** All rows, including those of dead processes until they are removed. */
    list: (): Promise<readonly LiveProcess[]> => PROCESSES.list(scope, {}, ['id']),

    /**
     * Removes a process that seemed dead at this beat; does nothing when the beat has increased since.
     * @param beat null: the process ends itself, whichever beat was its last to arrive
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
