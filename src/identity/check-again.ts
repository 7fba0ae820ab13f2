// Makes checks again when what they compare with has changed: of sessions that wait for a decision and of verified ones, an
// organization at a time. Whoever hands in meanwhile is checked by the runner and waits for none of it.
import type { Session, SessionStatus } from '../domain/session.ts'
import { type Comparison, type NewSessionCheck, NOTHING, type RepeatedPart } from './checks.ts'

export interface CheckAgainDependencies {
  readonly organizations: () => Promise<readonly { readonly id: string }[]>
  /** Sessions of a status whose checks of this part are not of this version, in the order of their ids. */
  readonly outdated: (
    organizationId: string,
    status: SessionStatus,
    made: { readonly part: string; readonly version: string },
    afterId: string,
    limit: number,
  ) => Promise<readonly Session[]>
  /**
   * Stores what came of a part's checks of an organization's sessions, all of them or none. Skips a session that has
   * changed since it was read. Answers how many hits are new, and how many sessions were skipped.
   */
  readonly store: (
    part: string,
    organizationId: string,
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
  { name, begin }: RepeatedPart,
  { organizations, outdated, store }: CheckAgainDependencies,
) => {
  /** With what all sessions were compared; null while it is not the same for all. */
  let settledKey: string | null = null
  /** By organization: the same of its sessions. */
  const settled = new Map<string, string>()

  const makeOf = async (
    compare: Comparison['compare'],
    organizationId: string,
    version: string,
    goesOn: () => boolean,
  ): Promise<MadeAgain & { readonly isSettled: boolean }> => {
    let [sessions, opened, seen] = [0, 0, 0]
    for (const status of STATUSES) {
      for (let after = ''; ; ) {
        if (!goesOn()) return { sessions, opened, isSettled: false }
        const batch = await outdated(organizationId, status, { part: name, version }, after, BATCH)
        const last = batch.at(-1)
        if (last === undefined) break
        const checks = await compare(batch)
        // Of a business, which has no age for example, nothing is left to do.
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
    // Only once nothing was left to do: the runner may have compared somebody with what was there before.
    return { sessions, opened, isSettled: seen === 0 }
  }

  /** Makes the checks of all sessions that were compared with something else, as long as `goesOn`. */
  return async (goesOn: () => boolean): Promise<MadeAgain> => {
    const comparison = await begin(null)
    let [sessions, opened] = [0, 0]
    if (comparison === null || comparison.key === settledKey) return { sessions, opened }
    // From here on some sessions are compared with this: what comes next may be what was there before.
    settledKey = null
    let isSettled = true
    for (const { id } of await organizations()) {
      const version = comparison.keyOf(id)
      if (version === null || settled.get(id) === version) continue
      settled.delete(id)
      const made = await makeOf(comparison.compare, id, version, goesOn)
      sessions += made.sessions
      opened += made.opened
      if (made.isSettled) settled.set(id, version)
      else isSettled = false
    }
    if (isSettled) settledKey = comparison.key
    return { sessions, opened }
  }
}
