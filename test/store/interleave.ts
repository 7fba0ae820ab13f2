// Runs two transactions so that the second starts after the first has written, and before it commits. A row that the
// second read without a lock is then outdated when it writes. On SQLite, the second waits for its turn.
import type { Store, Tables } from '../../src/store/store.ts'
import { until } from '../support/until.ts'

type Outcomes<First, Second> = readonly [PromiseSettledResult<First>, PromiseSettledResult<Second>]

const WAITING = `SELECT COUNT(*) AS waiting FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`

/**
 * @param first calls its parameter at the end of its transaction and awaits it
 * @param second waits for a lock of the first, or ends, before the first commits
 */
export const interleaveWork = async <First, Second>(
  { database, kind }: Pick<Store, 'database' | 'kind'>,
  first: (beforeCommit: () => Promise<void>) => Promise<First>,
  second: () => Promise<Second>,
): Promise<Outcomes<First, Second>> => {
  const [reached, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const one = first(() => {
    reached.resolve()
    return commit.promise
  })
  await Promise.race([reached.promise, one])
  let ended = false
  const other = second().finally(() => {
    ended = true
  })
  const outcomes = Promise.allSettled([one, other])
  const waits = async (): Promise<boolean> =>
    ((await database.query<{ waiting: number }>(WAITING))[0]?.waiting ?? 0) > 0
  try {
    if (kind === 'postgres') await until(async () => ended || (await waits()), { what: 'the second to wait or to end' })
  } finally {
    commit.resolve()
  }
  return outcomes
}

/** Runs two functions over tables, the first in one transaction. */
export const interleave = <First, Second>(
  store: Store,
  first: (tables: Tables) => Promise<First>,
  second: (store: Store) => Promise<Second>,
): Promise<Outcomes<First, Second>> =>
  interleaveWork(
    store,
    (beforeCommit) =>
      store.transaction(async (tables) => {
        const result = await first(tables)
        await beforeCommit()
        return result
      }),
    () => second(store),
  )
