// The ids of messages of outside deciders that were accepted, so that each message has an effect once. An id is kept far
// longer than its message's timestamp is accepted, so that a repeated message is always recognised.

import type { TableScope } from '../copy/table-scope.ts'
import { sweepRows } from '../sweep.ts'

/** Longer than any verification service sends a message again. */
const KEEP_SECONDS = 10 * 86_400

interface ProviderResult {
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

  /** Deletes a batch of expired rows. @returns how many: call again until it is 0 */
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
