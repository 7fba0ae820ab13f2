// Repeats checks after the compared data has changed, one organization at a time.
import { COMPARED_STATUSES, type Session, type SessionStatus } from '../../domain/session.ts'
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
  /** Sessions whose checks of this part have another version, ordered by id. */
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
  readonly onError: (error: unknown, failed: { readonly session: string } | { readonly organization: string }) => void
}

export type StoreChecks = CheckAgainDependencies['store']

interface MadeAgain {
  readonly sessions: number
  readonly opened: number
}

const BATCH = 50

export const createCheckAgain = (
  { name, begin }: RepeatedPart,
  { organizations, outdated, queued, store, onError }: CheckAgainDependencies,
) => {
  /** Key of the data that all sessions were last compared with; null while sessions differ. */
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

  const makeOf = async (
    compare: Comparison['compare'],
    organizationId: string,
    version: string,
    goesOn: () => boolean,
  ): Promise<MadeAgain & { readonly isSettled: boolean }> => {
    let [sessions, opened, seen] = [0, 0, 0]
    for (const status of COMPARED_STATUSES) {
      for (let after = ''; ; ) {
        if (!goesOn()) return { sessions, opened, isSettled: false }
        const found = await outdated(organizationId, status, { part: name, version }, after, BATCH)
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
        if ((await begin(organizationId))?.keyOf(organizationId) !== version)
          return { sessions, opened, isSettled: false }
        const made = batch
          .map((session, at) => ({ session, checks: checks[at] ?? [] }))
          .filter((each) => version === NOTHING || each.checks.length > 0)
        const stored = await store(name, organizationId, made)
        seen += made.length
        sessions += made.length - stored.skipped
        opened += stored.opened
        after = last.id
      }
    }
    // Settled only if no session was left: the runner may have compared one with earlier data.
    return { sessions, opened, isSettled: seen === 0 }
  }

  /** Repeats the checks of sessions that were compared with other data, while `goesOn` returns true. */
  return async (goesOn: () => boolean): Promise<MadeAgain> => {
    const comparison = await begin(null)
    let [sessions, opened] = [0, 0]
    if (comparison === null || comparison.key === settledKey) return { sessions, opened }
    // Some sessions now have the new version, so no key holds for all.
    settledKey = null
    let isSettled = true
    for (const { id } of await organizations()) {
      const version = comparison.keyOf(id)
      if (version === null || settled.get(id) === version) continue
      settled.delete(id)
      try {
        const made = await makeOf(comparison.compare, id, version, goesOn)
        sessions += made.sessions
        opened += made.opened
        if (made.isSettled) settled.set(id, version)
        else isSettled = false
      } catch (error) {
        if (error instanceof ComparisonChangedError) throw error
        onError(error, { organization: id })
        isSettled = false
      }
    }
    if (isSettled) settledKey = comparison.key
    return { sessions, opened }
  }
}
