// Stores check results. A new hit on a completed session applies the organization's setting in the same transaction.
import type { BoundHit, ScreeningSettings } from '../../domain/screening-hit.ts'
import { RETRIES_MAX, SCREENING_ACTOR } from '../../domain/session.ts'
import type { ChangeTogether, SessionChanges, SessionTables } from '../sessions/changes.ts'
import type { StoreChecks } from './check-again.ts'
import type { NewSessionCheck } from './checks.ts'

interface Target {
  readonly organizationId: string
  readonly sessionId: string
}

interface BoundCheck extends Omit<NewSessionCheck, 'hits' | 'subjects'> {
  readonly hits?: readonly BoundHit[]
  readonly subjectBases?: readonly string[]
}

export interface CheckTables extends SessionTables {
  readonly checks: {
    /**
     * Skips sessions changed since `sequence`. All sessions must belong to one organization. `opened`: number of new
     * hits by session id.
     */
    replaceUnchanged(
      organizationId: string,
      part: string,
      made: readonly {
        readonly sessionId: string
        readonly sequence: number
        readonly checks: readonly BoundCheck[]
      }[],
    ): Promise<{ readonly opened: ReadonlyMap<string, number>; readonly skipped: number }>
  }
  readonly settings: { read(organizationId: string): Promise<ScreeningSettings> }
}

const REASON = 'Repeated screening of the session found a new hit: see the checks.'

/** @param basisOf returns a keyed hash of a compared entry or subject */
export const createStoreChecks = (
  together: ChangeTogether<CheckTables>,
  basisOf: (organizationId: string, compared: string) => Promise<string>,
): StoreChecks => {
  const bind = (organizationId: string, checks: readonly NewSessionCheck[]): Promise<readonly BoundCheck[]> =>
    Promise.all(
      checks.map(async ({ hits, subjects = [], ...check }) => {
        if (hits === undefined) return check
        const bound = hits.map(async ({ compared, comparedSubject, ...hit }) => ({
          ...hit,
          basis: await basisOf(organizationId, compared),
          subjectBasis: await basisOf(organizationId, comparedSubject),
        }))
        const subjectBases = subjects.map((subject) => basisOf(organizationId, subject))
        return { ...check, hits: await Promise.all(bound), subjectBases: await Promise.all(subjectBases) }
      }),
    )

  const act = async (changes: SessionChanges, { sessions, settings }: CheckTables, target: Target): Promise<void> => {
    const session = (await sessions.find(target.organizationId, target.sessionId))?.session
    if (session?.status !== 'completed') return
    const { onNewHit } = await settings.read(target.organizationId)
    if (onNewHit === 'review') return
    // A session without retries left waits for a review.
    if (onNewHit === 'retry' && session.retryCount >= RETRIES_MAX) return
    const to = onNewHit === 'retry' ? 'retry' : 'rejected'
    await changes.changeStatus({ ...target, to, actor: SCREENING_ACTOR, revoke: true, privateComment: REASON })
  }

  return async (part, organizationId, made) => {
    const bound = await Promise.all(
      made.map(async ({ session: { id, sequence }, checks }) => ({
        sequence,
        sessionId: id,
        checks: await bind(organizationId, checks),
      })),
    )
    return together(async (changes, tables) => {
      const { opened, skipped } = await tables.checks.replaceUnchanged(organizationId, part, bound)
      for (const sessionId of opened.keys()) await act(changes, tables, { organizationId, sessionId })
      return { skipped, opened: [...opened.values()].reduce((sum, hits) => sum + hits, 0) }
    })
  }
}
