// Idempotency keys of the admin API: a change and the completion of its claim are one transaction (admin-api.ts), so a
// claim that was not completed has changed nothing, and is let go at once when its request fails.
import type { Clock } from '../domain/time.ts'
import { createIdempotencyGuard, type IdempotencyGuard } from '../http/idempotency.ts'
import type { IdempotencyClaim, IdempotencyTable } from '../store/idempotency.ts'

export interface AdminIdempotencyDependencies {
  readonly store: IdempotencyTable
  readonly clock: Clock
  /** Longer than a request's deadline. */
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
      // The answer as it was sent takes the place of what the change's transaction could say of it.
      complete: store.settle,
    },
    mayHaveActed: () => false,
    clock,
    claimSeconds,
    report,
  })
