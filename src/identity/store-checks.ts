// Stores what checks found, and in the same transaction does what the organization wants where a hit is new and the session is
// completed already: it stays so and waits for a look, goes back to its person, or is rejected.
import type { ScreeningSettings } from '../domain/screening-hit.ts'
import { RETRIES_MAX } from '../domain/session.ts'
import type { ChangeTogether, SessionChanges, SessionTables } from './changes.ts'
import type { StoreChecks } from './check-again.ts'
import type { NewSessionCheck } from './checks.ts'

interface Target {
  readonly organizationId: string
  readonly sessionId: string
}

export interface CheckTables extends SessionTables {
  readonly checks: {
    /** Answers how many hits are new. */
    replace(target: Target, part: string, checks: readonly NewSessionCheck[]): Promise<number>
    /** Of sessions of one organization: skips those that have changed, and answers the new hits of the others. */
    replaceUnchanged(
      organizationId: string,
      part: string,
      made: readonly {
        readonly sessionId: string
        readonly sequence: number
        readonly checks: readonly NewSessionCheck[]
      }[],
    ): Promise<{ readonly opened: ReadonlyMap<string, number>; readonly skipped: number }>
  }
  readonly settings: { read(organizationId: string): Promise<ScreeningSettings> }
}

/** Who changes a session since its checks were made again. */
const ACTOR = 'screening'
const REASON = 'A new hit was found when lists were looked at again: see the checks.'

export const createStoreChecks = (together: ChangeTogether<CheckTables>) => {
  const act = async (changes: SessionChanges, { sessions, settings }: CheckTables, target: Target): Promise<void> => {
    const session = (await sessions.find(target.organizationId, target.sessionId))?.session
    if (session?.status !== 'completed') return
    const { onNewHit } = await settings.read(target.organizationId)
    if (onNewHit === 'review') return
    // Who was sent back as often as possible waits for a look.
    if (onNewHit === 'retry' && session.retryCount >= RETRIES_MAX) return
    const to = onNewHit === 'retry' ? 'retry' : 'rejected'
    await changes.changeStatus({ ...target, to, actor: ACTOR, revoke: true, privateComment: REASON })
  }

  const storeAgain: StoreChecks = (part, organizationId, made) =>
    together(async (changes, tables) => {
      const { opened, skipped } = await tables.checks.replaceUnchanged(
        organizationId,
        part,
        made.map(({ session: { id, sequence }, checks }) => ({ sequence, checks, sessionId: id })),
      )
      for (const sessionId of opened.keys()) await act(changes, tables, { organizationId, sessionId })
      return { skipped, opened: [...opened.values()].reduce((sum, hits) => sum + hits, 0) }
    })

  return {
    /** One session's, for the runner. */
    replace: (target: Target, part: string, checks: readonly NewSessionCheck[]): Promise<number> =>
      together(async (changes, tables) => {
        const opened = await tables.checks.replace(target, part, checks)
        if (opened > 0) await act(changes, tables, target)
        return opened
      }),
    /** Of many sessions: one that has changed since it was read is skipped. */
    again: storeAgain,
  }
}
