// Effect of another threshold on an organization's newest sessions, computed in a process that exits afterwards.
import { fixedError } from '../../../domain/errors.ts'
import type { NearName, NearNames } from '../../../domain/screening-hit.ts'
import { COMPARED_STATUSES, type Session } from '../../../domain/session.ts'
import { currentCaller } from '../../../lib/caller.ts'
import { createFairSlots } from '../../../lib/fair-slots.ts'
import { serviceKey } from '../../../lib/service-key.ts'
import type { Store } from '../../../store/store.ts'
import { packLists, versionsOf } from '../processes/held-name-screener.ts'
import { type NameScreener, type ScreeningProcesses, screeningProcesses } from '../processes/screening-processes.ts'
import { type ScreenedFields, type ScreenedSession, screenSessions } from './screen-sessions.ts'

/** Listed names with a score of `lowest` or higher; null if no list has been read. */
export const NEAR_NAMES =
  serviceKey<(organizationId: string, lowest: number) => Promise<NearNames | null>>('comparison of names')

interface NearNamesDependencies {
  readonly store: Pick<Store, 'sessions' | 'screeningLists'>
  readonly evidence: () => Promise<ScreenedFields>
  readonly processes?: Pick<ScreeningProcesses, 'startNameScreener'>
}

/** Maximum sessions per status. Comparisons spend most of their time decrypting fields. */
const SESSIONS_MAX = 500
const BATCH = 10
/** A comparison that takes longer is cut, so that other organizations wait for less than a request's deadline. */
const TIME_MAX_MS = 10_000
/** Maximum waiting comparisons per organization. */
const WAITING_MAX = 1

class ComparisonBusyError extends fixedError('OVERLOADED', 'another comparison is running; try again in a moment', {
  retryAfterSeconds: 5,
}) {}

const nearIn = ({ sessionId, subjects, answers }: ScreenedSession): readonly NearName[] =>
  (subjects ?? []).flatMap(({ who }, at) =>
    (answers[at]?.hits ?? []).map(({ list, entry, name, score, why }) => {
      const isSame = why.some(({ part, points }) => part === 'name' && points === 100)
      return { list, entry, name, score, isSame, sessionId, subject: who }
    }),
  )

export const createNearNames = ({ store, evidence, processes = screeningProcesses }: NearNamesDependencies) => {
  const slots = createFairSlots(1, Number.POSITIVE_INFINITY, WAITING_MAX)

  const newest = async (organizationId: string) => {
    const sessions: Session[] = []
    let exact = true
    for (const status of COMPARED_STATUSES) {
      const page = await store.sessions.page({ organizationId, status }, { after: null, limit: SESSIONS_MAX })
      sessions.push(...page.items)
      if (page.next !== null) exact = false
    }
    return { sessions, exact }
  }

  /**
   * Compares entered values, which stay in memory for one batch only. `sessions` is the number of compared sessions.
   * @param signal ends the comparison early, also within a batch, because it ends the process
   */
  const compareAll = async (
    screener: NameScreener,
    sessions: readonly Session[],
    lowest: number,
    signal: AbortSignal,
  ) => {
    const fields = await evidence()
    const near: NearName[] = []
    let unread = 0
    const onError = (): void => {
      unread += 1
    }
    let compared = 0
    while (compared < sessions.length && !signal.aborted) {
      const batch = sessions.slice(compared, compared + BATCH)
      const screened = await screenSessions(fields, async () => screener, batch, lowest, onError).catch(
        (error: unknown) => {
          if (signal.aborted) return null
          throw error
        },
      )
      if (screened === null) break
      for (const session of screened) near.push(...nearIn(session))
      compared += batch.length
    }
    return { sessions: compared, unread, near: near.sort((left, right) => right.score - left.score) }
  }

  return async (organizationId: string, lowest: number): Promise<NearNames | null> => {
    const { signal } = currentCaller()
    const acquired = slots.acquire(organizationId, signal ?? undefined)
    if (acquired === null) throw new ComparisonBusyError()
    const release = await acquired
    try {
      signal?.throwIfAborted()
      const lists = await packLists(store.screeningLists, versionsOf(await store.screeningLists.list()))
      if (lists.length === 0) return null
      const screener = await processes.startNameScreener(lists)
      const late = AbortSignal.timeout(TIME_MAX_MS)
      const stop = signal === null ? late : AbortSignal.any([signal, late])
      stop.addEventListener('abort', () => void screener.close())
      try {
        const { sessions, exact } = await newest(organizationId)
        const found = await compareAll(screener, sessions, lowest, stop)
        return { ...found, exact: exact && found.sessions === sessions.length }
      } finally {
        await screener.close()
      }
    } finally {
      release()
    }
  }
}
