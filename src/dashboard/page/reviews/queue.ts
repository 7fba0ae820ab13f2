// The queue as filters cut it out of all sessions, and the way through it from one session to the next. The filters are in
// the address, so that a review knows which queue it came from.
import { useContext } from 'preact/hooks'
import { call, type QueryOf } from '../api/client.ts'
import type { Session } from '../api/types.ts'
import { useQuery } from '../data/use-query.ts'
import { PlaceContext } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { useOwnId } from './members.ts'
import { nextOf } from './next-session.ts'

const FILTER_NAMES = ['status', 'type', 'environment', 'level', 'hits', 'assigned', 'age'] as const

export type QueueFilters = Readonly<Record<(typeof FILTER_NAMES)[number], string>>

/** Read in one go; further ones come once these are done. */
const QUEUE_SESSIONS = 200
const HOUR_MS = 3_600_000

const among = <const Value extends string>(text: string, values: readonly Value[]): Value | undefined =>
  values.find((value) => value === text)

/** Times are cut to minutes, so that the same filter stays the same query for a while. */
const hoursAgo = (hours: number): string =>
  new Date(Math.floor((Date.now() - hours * HOUR_MS) / 60_000) * 60_000).toISOString()

/** What the address says, as the API is asked. Without a status: those that wait, which is what these pages are for. */
export const queryOf = (
  filters: QueueFilters,
  ownId: string,
): QueryOf<'GET /organizations/{organization}/sessions'> => {
  const status = filters.status === '' ? 'submitted' : filters.status
  const hours = Number(filters.age)
  return {
    status: among(status, ['pending', 'submitted', 'completed', 'rejected', 'retry']),
    type: among(filters.type, ['individual', 'business']),
    environment: among(filters.environment, ['live', 'test']),
    level: among(filters.level, ['basic', 'standard', 'enhanced']),
    hits: among(filters.hits, ['open', 'cleared', 'confirmed', 'none']),
    assigned_to: filters.assigned === '' ? undefined : filters.assigned === 'me' ? ownId : filters.assigned,
    created_before: hours > 0 ? hoursAgo(hours) : undefined,
    // Whoever waits longest comes first; of what is over, the latest.
    order: status === 'submitted' || status === 'retry' || status === 'pending' ? 'oldest' : 'newest',
  }
}

export const filtersOf = (search: string): QueueFilters => {
  const parameters = new URLSearchParams(search)
  const entries = FILTER_NAMES.map((name) => [name, parameters.get(name) ?? ''] as const)
  return Object.fromEntries(entries) as unknown as QueueFilters
}

/** `?type=business` for the address of a session; empty without filters. */
export const searchOf = (filters: QueueFilters): string => {
  const parameters = new URLSearchParams(
    FILTER_NAMES.flatMap((name) => (filters[name] === '' ? [] : [[name, filters[name]]])),
  )
  return parameters.size === 0 ? '' : `?${parameters}`
}

export interface Way {
  /** Of the queue that the address names: addresses of this and of its neighbours keep it. */
  readonly search: string
  /** From 1; null where the session is not in the queue, or not yet known. */
  readonly position: number | null
  readonly length: number
  /** There are more than were read. */
  readonly more: boolean
  readonly next: Session | null
  readonly previous: Session | null
  /**
   * Where to go after a decision, by the queue as it is by then: the next session that is this reviewer's or nobody's; null
   * when there is none. `stay` where the address names no queue of sessions that wait.
   */
  readonly findNext: (ownId: string) => Promise<{ readonly id: string } | null | 'stay'>
}

/** Where a session stands in the queue that the address names. The queue is as it was when the session was opened. */
export const useWay = (sessionId: string): Way => {
  const { params } = useWorkplace()
  const ownId = useOwnId()
  const { search } = useContext(PlaceContext)
  const filters = filtersOf(search)
  const readQueue = (signal?: AbortSignal) =>
    call('GET /organizations/{organization}/sessions', {
      params,
      query: { ...queryOf(filters, ownId), limit: QUEUE_SESSIONS },
      ...(signal === undefined ? {} : { signal }),
    })
  const { value } = useQuery(readQueue, [params.organization, filters])
  const sessions = value?.data ?? []
  const at = sessions.findIndex(({ id }) => id === sessionId)
  return {
    search: searchOf(filters),
    position: at === -1 ? null : at + 1,
    length: sessions.length,
    more: value !== null && value.next_cursor !== null,
    // Of a session that is not in it, what comes next is the first one.
    next: sessions[at + 1] ?? null,
    previous: at > 0 ? (sessions[at - 1] ?? null) : null,
    findNext: async (own) => {
      if (filters.status !== '') return 'stay'
      return nextOf((await readQueue()).data, sessionId, own)
    },
  }
}
