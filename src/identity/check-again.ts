// Makes checks again when what they compare with has changed: of sessions that wait for a decision and of verified ones, an
// organization at a time. Whoever hands in meanwhile is checked by the runner and waits for none of it.
import type { Session, SessionStatus } from '../domain/session.ts'
import type { Comparison, NewSessionCheck, RepeatedPart } from './checks.ts'

export interface CheckAgainDependencies {
  readonly organizations: () => Promise<readonly { readonly id: string }[]>
  /** Sessions of a status without this version of the check, in the order of their ids. */
  readonly outdated: (
    organizationId: string,
    status: SessionStatus,
    check: { readonly name: string; readonly version: string },
    afterId: string,
    limit: number,
  ) => Promise<readonly Session[]>
  /**
   * Stores what came of a part's checks, all of them or none. Skips a session that has changed since it was read. Answers
   * how many hits are new, and how many sessions were skipped.
   */
  readonly store: (
    part: string,
    made: readonly { readonly session: Session; readonly checks: readonly NewSessionCheck[] }[],
  ) => Promise<{ readonly opened: number; readonly skipped: number }>
}

export type StoreChecks = CheckAgainDependencies['store']

export interface MadeAgain {
  /** Sessions whose checks were made again. */
  readonly sessions: number
  /** Hits that are new. */
  readonly opened: number
}

const STATUSES: readonly SessionStatus[] = ['submitted', 'completed']
const BATCH = 50

export const createCheckAgain = (
  { name, check, begin }: RepeatedPart,
  { organizations, outdated, store }: CheckAgainDependencies,
) => {
  /** With what all sessions were compared. */
  let settledKey = ''

  const makeOf = async (
    { keyOf, compare }: Comparison,
    organizationId: string,
    status: SessionStatus,
    goesOn: () => boolean,
  ): Promise<MadeAgain & { readonly isSettled: boolean }> => {
    const version = keyOf(organizationId)
    let [sessions, opened, skipped] = [0, 0, 0]
    for (let after = ''; version !== null; ) {
      if (!goesOn()) return { sessions, opened, isSettled: false }
      const batch = await outdated(organizationId, status, { name: check, version }, after, BATCH)
      const last = batch.at(-1)
      if (last === undefined) break
      const made = await Promise.all(batch.map(async (session) => ({ session, checks: await compare(session) })))
      const stored = await store(name, made)
      sessions += batch.length - stored.skipped
      opened += stored.opened
      skipped += stored.skipped
      after = last.id
    }
    return { sessions, opened, isSettled: skipped === 0 }
  }

  /** Makes the checks of all sessions that were compared with something else, as long as `goesOn`. */
  return async (goesOn: () => boolean): Promise<MadeAgain> => {
    const comparison = await begin()
    let [sessions, opened] = [0, 0]
    if (comparison === null || comparison.key === settledKey) return { sessions, opened }
    let isSettled = true
    for (const { id } of await organizations()) {
      for (const status of STATUSES) {
        const made = await makeOf(comparison, id, status, goesOn)
        sessions += made.sessions
        opened += made.opened
        isSettled &&= made.isSettled
      }
    }
    if (isSettled) settledKey = comparison.key
    return { sessions, opened }
  }
}
