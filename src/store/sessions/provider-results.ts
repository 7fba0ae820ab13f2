// Ids of accepted messages of external deciders, kept far longer than timestamps are accepted.

import type { Session, SessionState, StatusChange } from '../../domain/session.ts'
import { ChecksPendingError, LinkedChecksPendingError, TransitionRefusedError } from '../../domain/session-errors.ts'
import { integer, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Store, Tables } from '../store.ts'
import { defineTable, type ItemOf } from '../table.ts'

/** Longer than the retry period of any verification service. */
const KEEP_SECONDS = 10 * 86_400

const RESULTS = defineTable('provider_results', {
  organizationId: text,
  endpointId: text,
  messageId: text,
  sessionId: text,
  receivedAtSeconds: integer,
})

export const createProviderResultTable = (scope: TableScope) => ({
  spend: (result: Omit<ItemOf<typeof RESULTS>, 'receivedAtSeconds'>): Promise<boolean> =>
    RESULTS.insertNew(scope, { ...result, receivedAtSeconds: scope.nowSeconds() }),

  sweep: (): Promise<number> =>
    RESULTS.sweep(scope, ['endpointId', 'messageId'], sql`received_at_seconds < ${scope.nowSeconds() - KEEP_SECONDS}`),
})

type Message = Parameters<Tables['providerResults']['spend']>[0]

/** Throws ChecksPendingError if the compared data has changed, and LinkedSessionsError if linked data was not compared. */
export type RequireCurrent = (tables: Tables, session: Session) => Promise<void>

/** A repeated message changes nothing. A message about a session that is no longer submitted is rejected. */
export const spendAndDecide = (
  store: Pick<Store, 'transaction' | 'sessionChecks'>,
  message: Message,
  requireCurrent: RequireCurrent,
) => {
  let isRepeated = false
  const decide = (change: StatusChange): Promise<SessionState | null> =>
    store.transaction(async (tables) => {
      const before = await tables.sessions.lock(message.organizationId, message.sessionId)
      isRepeated = !(await tables.providerResults.spend(message))
      if (isRepeated || before === null) return before
      const { status } = before.session
      if (status !== 'submitted') throw new TransitionRefusedError(status, change.to)
      if (change.to === 'completed') await requireCurrent(tables, before.session)
      return tables.sessions.changeStatus(change)
    })
  return {
    /** The message was already received. */
    isRepeated: () => isRepeated,
    /**
     * @throws TransitionRefusedError if an operator has already decided or returned the session; ChecksPendingError if
     * its checks are repeated first; LinkedChecksPendingError, LinkedSessionsError
     */
    changeStatus: async (change: StatusChange): Promise<SessionState | null> => {
      try {
        return await decide(change)
      } catch (error) {
        // The refusal was rolled back with the message, so the checks are queued in a separate transaction.
        const isOfLinkedSession = error instanceof LinkedChecksPendingError
        if (error instanceof ChecksPendingError && !isOfLinkedSession) await store.sessionChecks.queueRepeat(message)
        throw error
      }
    },
  }
}
