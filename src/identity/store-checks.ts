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

  const storeOne = async (
    changes: SessionChanges,
    tables: CheckTables,
    target: Target,
    part: string,
    checks: readonly NewSessionCheck[],
  ): Promise<number> => {
    const opened = await tables.checks.replace(target, part, checks)
    if (opened > 0) await act(changes, tables, target)
    return opened
  }

  const storeAgain: StoreChecks = (part, made) =>
    together(async (changes, tables) => {
      let [opened, skipped] = [0, 0]
      for (const { session, checks } of made) {
        const { organizationId, id: sessionId, sequence } = session
        const now = await tables.sessions.find(organizationId, sessionId)
        if (now?.session.sequence !== sequence) skipped += 1
        else opened += await storeOne(changes, tables, { organizationId, sessionId }, part, checks)
      }
      return { opened, skipped }
    })

  return {
    /** One session's, for the runner. */
    replace: (target: Target, part: string, checks: readonly NewSessionCheck[]): Promise<number> =>
      together((changes, tables) => storeOne(changes, tables, target, part, checks)),
    /** Of many sessions: one that has changed since it was read is skipped. */
    again: storeAgain,
  }
}
