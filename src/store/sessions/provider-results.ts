// Ids of accepted messages of external deciders, kept to detect replays after their timestamps have expired.

import type { Session, SessionState, StatusChange } from '../../domain/session.ts'
import {
  ChecksPendingError,
  DeciderEndedError,
  LinkedChecksPendingError,
  SessionChangedError,
  TransitionRefusedError,
} from '../../domain/session-errors.ts'
import { integer, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Store, Tables } from '../store.ts'
import { defineTable, type ItemOf } from '../table.ts'
import { lockDecider } from '../webhooks/webhook-endpoints.ts'

/** Retention: longer than the retry period of any verification service. */
const KEEP_SECONDS = 10 * 86_400

const RESULTS = defineTable('provider_results', {
  organizationId: text,
  endpointId: text,
  messageId: text,
  sessionId: text,
  receivedAtSeconds: integer,
})

export const createProviderResultTable = (scope: TableScope) => ({
  /** Returns false for a repeated message. @throws DeciderEndedError */
  spend: (result: Omit<ItemOf<typeof RESULTS>, 'receivedAtSeconds'>): Promise<boolean> =>
    scope.write(async (own) => {
      if (!(await lockDecider(own, result))) throw new DeciderEndedError()
      return RESULTS.insertNew(own, { ...result, receivedAtSeconds: scope.nowSeconds() })
    }),

  sweep: (): Promise<number> =>
    RESULTS.sweep(scope, ['endpointId', 'messageId'], sql`received_at_seconds < ${scope.nowSeconds() - KEEP_SECONDS}`),
})

/** @throws ChecksPendingError if the compared data has changed; LinkedSessionsError if linked data was not compared */
export type RequireCurrent = (tables: Tables, session: Session) => Promise<void>

/**
 * Call before the transaction of the completion: looks up linked wallets in lists, which can be large.
 * @throws the errors of RequireCurrent; RejectedBeforeError
 */
export type PrepareRequireCurrent = (tables: Tables, session: Session) => Promise<RequireCurrent>

/** Ignores repeated messages. Rejects messages about sessions that are no longer submitted. */
export const spendAndDecide = (
  store: Store,
  message: Parameters<Tables['providerResults']['spend']>[0],
  prepareRequireCurrent: PrepareRequireCurrent,
) => {
  let isRepeated = false
  /** Returns null if the transaction will not complete the session. */
  const prepare = async ({ to, expectedSequence }: StatusChange): Promise<RequireCurrent | null> => {
    const found = to === 'completed' ? await store.sessions.find(message.organizationId, message.sessionId) : null
    if (found?.session.status !== 'submitted') return null
    if (expectedSequence !== undefined && expectedSequence !== found.session.sequence) return null
    return prepareRequireCurrent(store, found.session)
  }
  const decide = async (change: StatusChange): Promise<SessionState | null> => {
    const requireCurrent = await prepare(change)
    return store.transaction(async (tables) => {
      const before = await tables.sessions.lock(message.organizationId, message.sessionId)
      isRepeated = !(await tables.providerResults.spend(message))
      if (isRepeated || before === null) return before
      const { status } = before.session
      if (status !== 'submitted') throw new TransitionRefusedError(status, change.to)
      if (change.to === 'completed') {
        if (requireCurrent === null) throw new SessionChangedError()
        await requireCurrent(tables, before.session)
      }
      return tables.sessions.changeStatus(change)
    })
  }
  return {
    isRepeated: () => isRepeated,
    /** @throws TransitionRefusedError if already decided; ChecksPendingError if its checks must be repeated first */
    changeStatus: async (change: StatusChange): Promise<SessionState | null> => {
      try {
        return await decide(change)
      } catch (error) {
        // The error rolled back the transaction of the message, so queue the checks in a new transaction.
        const isOfLinkedSession = error instanceof LinkedChecksPendingError
        if (error instanceof ChecksPendingError && !isOfLinkedSession) await store.sessionChecks.queueRepeat(message)
        throw error
      }
    },
  }
}
