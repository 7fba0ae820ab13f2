// Filtered queue of sessions. The filters are in the URL, so that a review keeps its queue.
import { useContext } from 'preact/hooks'
import { call, type QueryOf } from '../api/client.ts'
import type { Session } from '../api/types.ts'
import { useQuery } from '../data/use-query.ts'
import { PlaceContext } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { useOwnId } from './members.ts'

const FILTER_NAMES = ['status', 'type', 'environment', 'level', 'hits', 'assigned', 'age', 'order'] as const

type QueueFilters = Readonly<Record<(typeof FILTER_NAMES)[number], string>>

/** Maximum sessions read at once; more are read after these are done. */
const QUEUE_SESSIONS = 200
const HOUR_MS = 3_600_000

const among = <const Value extends string>(text: string, values: readonly Value[]): Value | undefined =>
  values.find((value) => value === text)

/** Rounds down to minutes, so that the same filter stays the same query for a while. */
const hoursAgo = (hours: number): string =>
  new Date(Math.floor((Date.now() - hours * HOUR_MS) / 60_000) * 60_000).toISOString()

/** Returns the API query for the filters in the URL; without a status, for waiting sessions. */
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
    // Longest waiting first; for finished sessions, latest first.
    order:
      among(filters.order, ['newest', 'oldest', 'hits']) ??
      (status === 'submitted' || status === 'retry' || status === 'pending' ? 'oldest' : 'newest'),
  }
}

export const filtersOf = (search: string): QueueFilters => {
  const parameters = new URLSearchParams(search)
  const entries = FILTER_NAMES.map((name) => [name, parameters.get(name) ?? ''] as const)
  return Object.fromEntries(entries) as unknown as QueueFilters
}

export const searchOf = (filters: QueueFilters): string => {
  const parameters = new URLSearchParams(
    FILTER_NAMES.flatMap((name) => (filters[name] === '' ? [] : [[name, filters[name]]])),
  )
  return parameters.size === 0 ? '' : `?${parameters}`
}

export interface Way {
  readonly search: string
  /** Starts at 1; null if the session isn't in the queue or the queue isn't loaded. */
  readonly position: number | null
  readonly length: number
  /** Whether the queue contains more sessions than were read. */
  readonly more: boolean
  readonly next: Session | null
  readonly previous: Session | null
  /**
   * Returns null if no session is unassigned or assigned to the reviewer; `stay` if the queue isn't for waiting
   * sessions.
   */
  readonly findNext: (ownId: string) => Promise<{ readonly id: string } | null | 'stay'>
}

/** Returns the next session that is unassigned or assigned to the reviewer, wrapping around. Ids are in queue order. */
export const nextOf = <Waiting extends Pick<Session, 'id' | 'assigned_to'>>(
  queue: readonly Waiting[],
  presentId: string,
  ownId: string,
): Waiting | null => {
  const waiting = queue.filter(({ id, assigned_to: to }) => id !== presentId && (to === null || to === ownId))
  return waiting.find(({ id }) => id > presentId) ?? waiting[0] ?? null
}

/** Returns the position of a session in the URL's queue, as of the time the session was opened. */
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
    // For a session outside the queue, the first session is next.
    next: sessions[at + 1] ?? null,
    previous: at > 0 ? (sessions[at - 1] ?? null) : null,
    findNext: async (own) => {
      if (filters.status !== '') return 'stay'
      return nextOf((await readQueue()).data, sessionId, own)
    },
  }
}
