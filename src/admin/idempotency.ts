// A change completes its claim in the same transaction (perform.ts), so an open claim has changed nothing.
import type { Clock } from '../lib/time.ts'
import { createIdempotencyGuard, type IdempotencyGuard } from '../server/idempotency.ts'
import type { IdempotencyClaim, IdempotencyTable } from '../store/idempotency.ts'

interface AdminIdempotencyDependencies {
  readonly store: IdempotencyTable
  readonly clock: Clock
  /** Duration of a claim, which must exceed the deadline of a request. */
  readonly claimSeconds: number
  readonly report: (error: unknown) => void
}

export const createAdminIdempotency = ({
  store,
  clock,
  claimSeconds,
  report,
}: AdminIdempotencyDependencies): IdempotencyGuard<IdempotencyClaim> =>
  createIdempotencyGuard<IdempotencyClaim>({
    store: {
      claim: store.claim,
      replaceUuid: store.replaceUuid,
      markDispatched: store.markDispatched,
      release: store.release,
      // Replaces the response stored in the transaction with the response that was sent.
      complete: store.settle,
    },
    mayHaveActed: () => false,
    clock,
    claimSeconds,
    report,
  })
