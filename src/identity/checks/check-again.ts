// Repeats checks after the compared data has changed. Organizations take turns of about a second.
import { COMPARED_STATUSES, type Session, type SessionStatus } from '../../domain/session.ts'
import type { Clock } from '../../lib/time.ts'
import {
  type Comparison,
  ComparisonChangedError,
  type NewSessionCheck,
  NOTHING,
  type RepeatedPart,
  SubjectsFailedError,
} from './checks.ts'

export interface CheckAgainDependencies {
  readonly organizations: () => Promise<readonly { readonly id: string }[]>
  /** Sessions whose checks of this part were made with a version other than `made.version`, ordered by id. */
  readonly outdated: (
    organizationId: string,
    status: SessionStatus,
    made: { readonly part: string; readonly version: string },
    afterId: string,
    limit: number,
  ) => Promise<readonly Session[]>
  readonly queued: (organizationId: string, sessionIds: readonly string[]) => Promise<ReadonlySet<string>>
  /** Atomic per organization. Skips changed sessions. Returns the numbers of new hits and skipped sessions. */
  readonly store: (
    part: string,
    organizationId: string,
    made: readonly { readonly session: Session; readonly checks: readonly NewSessionCheck[] }[],
  ) => Promise<{ readonly opened: number; readonly skipped: number }>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly onError: (error: unknown, failed: { readonly session: string } | { readonly organization: string }) => void
}

export type StoreChecks = CheckAgainDependencies['store']

interface MadeAgain {
  readonly sessions: number
  readonly opened: number
}

const BATCH = 20
/**
 * Target duration of a batch. A session may have many names that are slow to compare, so each batch sets the size of
 * the next.
 */
const TURN_MS = 1_000
/** Target duration of a batch's transaction: SQLite runs it on the main thread. */
const TRANSACTION_MS = 50
/** Delay after a pass that failed or left sessions unchecked. */
const NEXT_PASS_MS = 5_000

const nextLimit = (limit: number, tookMs: number, storedMs: number): number =>
  Math.max(1, Math.min(BATCH, 2 * limit, Math.floor(limit * Math.min(TURN_MS / tookMs, TRANSACTION_MS / storedMs))))

export const createCheckAgain = (
  { name, begin }: RepeatedPart,
  { organizations, outdated, queued, store, clock, onError }: CheckAgainDependencies,
) => {
  /** Key of the data that every session was last compared with; null if sessions were compared with different data. */
  let settledKey: string | null = null
  const settled = new Map<string, string>()

  /** A session that fails both in a batch and alone is `not-done`, so that it does not block the others. */
  const compareEach = async (
    compare: Comparison['compare'],
    batch: readonly Session[],
    version: string,
  ): Promise<readonly (readonly NewSessionCheck[])[]> => {
    try {
      return await compare(batch)
    } catch (error) {
      if (!(error instanceof SubjectsFailedError)) throw error
    }
    const checks: (readonly NewSessionCheck[])[] = []
    for (const session of batch) {
      try {
        checks.push(...(await compare([session])))
      } catch (error) {
        if (!(error instanceof SubjectsFailedError)) throw error
        onError(error, { session: session.id })
        checks.push([{ name, outcome: 'not-done', detail: {}, version }])
      }
    }
    return checks
  }

  /** Compares all sessions of an organization, one batch per step. Returns true if every session was up to date. */
  const createPass = async function* (
    organizationId: string,
    version: string,
    { compare }: Comparison,
  ): AsyncGenerator<MadeAgain, boolean> {
    let [seen, limit] = [0, 1]
    for (const status of COMPARED_STATUSES) {
      for (let after = ''; ; ) {
        const startedMs = clock.monotonicMs()
        const found = await outdated(organizationId, status, { part: name, version }, after, limit)
        const last = found.at(-1)
        if (last === undefined) break
        // Until the runner has checked a session, data such as a document's zone comes from an earlier submission.
        const waiting = await queued(
          organizationId,
          found.map(({ id }) => id),
        )
        const batch = found.filter(({ id }) => !waiting.has(id))
        seen += waiting.size
        const checks = batch.length === 0 ? [] : await compareEach(compare, batch, version)
        // The data may have changed, and the runner may already have compared a session with the new version.
        const current = await begin(organizationId)
        if (current.keyOf(organizationId) !== version) return false
        compare = current.compare
        const made = batch
          .map((session, at) => ({ session, checks: checks[at] ?? [] }))
          .filter((each) => version === NOTHING || each.checks.length > 0)
        const comparedMs = clock.monotonicMs()
        const stored = await store(name, organizationId, made)
        seen += made.length
        const nowMs = clock.monotonicMs()
        limit = nextLimit(limit, nowMs - startedMs, nowMs - comparedMs)
        after = last.id
        yield { sessions: made.length - stored.skipped, opened: stored.opened }
      }
    }
    // Settled only if no session was outdated: the runner may have compared a session with earlier data.
    return seen === 0
  }

  /**
   * Repeats the checks of sessions that were compared with other data, while `goesOn` returns true. Ends after one pass
   * over each organization. Until then, further passes start for organizations whose data has changed.
   */
  return async (goesOn: () => boolean): Promise<MadeAgain> => {
    let [sessions, opened] = [0, 0]
    let key: string | null = null
    let versions: readonly (readonly [string, string | null])[] = []
    const passes = new Map<string, { readonly version: string; readonly steps: ReturnType<typeof createPass> }>()
    /** Start time of the next pass, by organization; only for organizations with a finished pass. */
    const nextMs = new Map<string, number>()
    for (;;) {
      const comparison = await begin(null)
      if (comparison.key === settledKey) return { sessions, opened }
      // Some sessions now have the new version, so no key holds for all.
      settledKey = null
      if (comparison.key !== key) {
        key = comparison.key
        versions = (await organizations()).map(({ id }) => [id, comparison.keyOf(id)])
      }
      let [isSettled, isDone] = [true, true]
      for (const [id, version] of versions) {
        if (version === null || settled.get(id) === version) continue
        if (!goesOn()) return { sessions, opened }
        settled.delete(id)
        isSettled = false
        if ((nextMs.get(id) ?? 0) > clock.monotonicMs()) continue
        let pass = passes.get(id)
        if (pass?.version !== version) pass = { version, steps: createPass(id, version, comparison) }
        passes.set(id, pass)
        try {
          const step = await pass.steps.next()
          if (step.done !== true) {
            sessions += step.value.sessions
            opened += step.value.opened
            if (!nextMs.has(id)) isDone = false
            continue
          }
          if (step.value) settled.set(id, version)
        } catch (error) {
          if (error instanceof ComparisonChangedError) throw error
          onError(error, { organization: id })
        }
        passes.delete(id)
        nextMs.set(id, settled.has(id) ? 0 : clock.monotonicMs() + NEXT_PASS_MS)
      }
      if (isSettled) settledKey = comparison.key
      if (isDone) return { sessions, opened }
    }
  }
}
