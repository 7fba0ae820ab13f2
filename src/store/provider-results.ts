// The ids of the messages that an outside decider sent and that were taken: each has an effect once. Kept for far longer
// than a message's timestamp is accepted, so that no id is forgotten while its message could still come again.
import { sweepRows } from './sweep.ts'
import type { TableScope } from './table-scope.ts'

/** Longer than any verification service sends a message again. */
const KEEP_SECONDS = 10 * 86_400

export interface ProviderResult {
  readonly organizationId: string
  readonly endpointId: string
  readonly messageId: string
  readonly sessionId: string
}

export const createProviderResultTable = (scope: TableScope) => ({
  /** False when the message was taken before. */
  spend: (result: ProviderResult): Promise<boolean> =>
    scope.write(
      async (transaction) =>
        (await transaction.execute(
          `INSERT INTO provider_results (organization_id, endpoint_id, message_id, session_id, received_at_seconds)
           VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          [result.organizationId, result.endpointId, result.messageId, result.sessionId, scope.nowSeconds()],
        )) > 0,
    ),

  /** Deletes some of what is past its time; answers how many. Call again until it answers 0. */
  sweep: (): Promise<number> =>
    scope.write((transaction) =>
      sweepRows(
        transaction,
        'provider_results',
        'endpoint_id, message_id',
        'received_at_seconds < ?',
        scope.nowSeconds() - KEEP_SECONDS,
      ),
    ),
})
