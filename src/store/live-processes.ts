// Live processes of the deployment. Each increments its own beat, so that clocks are never compared.

import { hidden, integer, names, text } from './columns.ts'
import { reservedReads, reservedWrites, type TableScope } from './copy/table-scope.ts'
import type { Database } from './database.ts'
import { StoreUnusableError } from './errors.ts'
import { defineTable, type ItemOf } from './table.ts'

/** Columns that the table has had in every schema. */
const BEATS = { id: text, name: text, beat: integer }
const PROCESSES_OF_ANY_SCHEMA = defineTable('live_processes', BEATS)
const PROCESSES = defineTable('live_processes', {
  ...BEATS,
  /** Shared time of the processes in milliseconds (src/cluster/live-processes.ts). */
  clockMs: integer,
  /** Names of the running modules, sorted. */
  modules: names,
  startedAtSeconds: hidden(integer),
})

interface LiveProcess extends ItemOf<typeof PROCESSES> {}

export const createLiveProcessTable = (given: TableScope) => {
  // The next beat replaces a lost one.
  const scope = reservedWrites(given)
  return {
    beat: ({ id, name, beat, clockMs, modules }: LiveProcess): Promise<void> =>
      PROCESSES.put(scope, { id }, { beat, clockMs }, { name, modules, startedAtSeconds: scope.nowSeconds() }),

    list: (): Promise<readonly LiveProcess[]> => PROCESSES.list(reservedReads(scope), {}, ['id']),

    /** Removes a process if it still has this beat. @param beat null if the process itself ends */
    remove: async (id: string, beat: number | null): Promise<void> => {
      await PROCESSES.removeAll(scope, beat === null ? { id } : { id, beat })
    },
  }
}

export type LiveProcessTable = ReturnType<typeof createLiveProcessTable>

/** Duration of the watch: longer than three beats. */
const WATCH_MS = 7_000
const LOOK_MS = 500

export interface InUseOptions {
  readonly wait: (milliseconds: number) => Promise<void>
}

type Beat = ItemOf<typeof PROCESSES_OF_ANY_SCHEMA>

/**
 * Watches listed processes until a beat advances. Returns the live processes, or else the silent processes as last
 * read.
 */
const watchBeats = async <Process extends Beat>(
  list: () => Promise<readonly Process[]>,
  { wait }: InUseOptions,
): Promise<{ readonly live: readonly Process[]; readonly silent: readonly Process[] }> => {
  const silent = await list()
  const first = new Map(silent.map(({ id, beat }) => [id, beat]))
  for (let watchedMs = 0; first.size > 0 && watchedMs < WATCH_MS; watchedMs += LOOK_MS) {
    await wait(LOOK_MS)
    const live = (await list()).filter(({ id, beat }) => first.get(id) !== beat)
    if (live.length > 0) return { live, silent: [] }
  }
  return { live: [], silent }
}

/** Returns the names of the live processes. Also supports a database of an older schema. */
export const findUsers = async (database: Database, options: InUseOptions): Promise<readonly string[]> => {
  const { live } = await watchBeats(() => PROCESSES_OF_ANY_SCHEMA.list(reservedReads(database), {}, ['id']), options)
  return live.map(({ name }) => name)
}

export interface ProcessModules {
  /** Sorted names. */
  readonly running: readonly string[]
  /** Names of all modules of this version. */
  readonly known: readonly string[]
}

/** Includes the setting with which this version would run the modules of the process. */
const describeModules = ({ name, modules }: LiveProcess, { known }: ProcessModules): string => {
  const leftOut = known.filter((module) => !modules.includes(module))
  const unknown = modules.filter((module) => !known.includes(module))
  const setting = leftOut.length === 0 ? 'all modules' : `--without ${leftOut.join(',')}`
  return `${name} (${[setting, ...unknown.map((module) => `with the unknown module ${module}`)].join(', ')})`
}

/**
 * Removes the rows of ended processes with other modules, so that later callers don't wait for them. Each process may
 * run the checks of all. @throws StoreUnusableError while a live process runs other modules
 */
export const requireSameModules = async (
  table: Pick<LiveProcessTable, 'list' | 'remove'>,
  own: ProcessModules,
  options: InUseOptions,
): Promise<void> => {
  const listOthers = async () => (await table.list()).filter(({ modules }) => modules.join() !== own.running.join())
  const { live, silent } = await watchBeats(listOthers, options)
  if (live.length > 0) {
    const others = live.map((process) => describeModules(process, own)).join('; ')
    throw new StoreUnusableError(
      `other processes of the deployment run different modules: ${others}. Use the same setting, or stop all nodes before you change the setting`,
    )
  }
  for (const { id, beat } of silent) await table.remove(id, beat)
}
