// The ids of messages of outside deciders that were accepted, so that each message has an effect once. An id is kept far
// longer than its message's timestamp is accepted, so that a repeated message is always recognised.

import { integer, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { defineTable, type ItemOf } from '../table.ts'

/** Longer than any verification service sends a message again. */
const KEEP_SECONDS = 10 * 86_400

const RESULTS = defineTable('provider_results', {
  organizationId: text,
  endpointId: text,
  messageId: text,
  sessionId: text,
  receivedAtSeconds: integer,
})

export const createProviderResultTable = (scope: TableScope) => ({
  /** False when the message was taken before. */
  spend: (result: Omit<ItemOf<typeof RESULTS>, 'receivedAtSeconds'>): Promise<boolean> =>
    RESULTS.insertNew(scope, { ...result, receivedAtSeconds: scope.nowSeconds() }),

  /** Deletes a batch of expired rows. @returns how many: call again until it is 0 */
  sweep: (): Promise<number> =>
    RESULTS.sweep(scope, ['endpointId', 'messageId'], sql`received_at_seconds < ${scope.nowSeconds() - KEEP_SECONDS}`),
})
