// Records the outcome of requests that this node didn't finish. Until then, other nodes reject a retry (invariant 3).
import { type Clock, createHeldClock, type Timers } from '../lib/time.ts'
import { KEEP_SLACK_SECONDS, type NodeMemory } from '../server/idempotency.ts'
import type { IdempotencyTable, UnansweredClaim } from '../store/idempotency.ts'

export interface ClaimTellerDependencies {
  readonly memory: NodeMemory
  readonly claims: Pick<IdempotencyTable, 'listUnanswered' | 'complete' | 'release'>
  readonly clock: Clock
  /** Duration of a claim: longer than any process can work on the claim's request. */
  readonly claimSeconds: number
  readonly after: Timers['after']
  readonly onError: (error: unknown) => void
}

const PAUSE_MS = 1_000
const BATCH = 100

export const createClaimTeller = (dependencies: ClaimTellerDependencies) => {
  const { memory, claims, clock, claimSeconds, after, onError } = dependencies
  const claimMs = claimSeconds * 1000
  const startedMs = clock.monotonicMs()
  /** No process is working on claims that expired before this time. */
  const endedBySeconds = createHeldClock(clock, claimMs)
  const isPastFirstClaims = (): boolean => clock.monotonicMs() - startedMs >= claimMs
  /** Uuids without a record, whose claims are released later. */
  const undecided = new Set<string>()

  /** Nothing more is signed under these claims. A retry that took over a claim keeps it. */
  const tell = async ({ claim, uuidSinceSeconds }: UnansweredClaim): Promise<void> => {
    const recalled = await memory.recall({
      organizationId: claim.organizationId,
      uuid: claim.uuid,
      sinceSeconds: uuidSinceSeconds,
    })
    if (recalled.outcome === 'decided') {
      const { body, keepSeconds } = recalled.answer
      await claims.complete(claim, { status: 200, body }, clock.unixSeconds() + keepSeconds + KEEP_SLACK_SECONDS)
    } else if (!isPastFirstClaims()) {
      // A process from before this startup may still work on the claim.
      undecided.add(claim.uuid)
    } else {
      // Nothing was signed, or the signature has expired: the next request with this key is a new request.
      await claims.release(claim)
      undecided.delete(claim.uuid)
    }
  }

  /** Settles up to a hundred claims. Rejects if the store or log can't be read. */
  const pass = async (): Promise<void> => {
    const maySettle = ({ claim }: UnansweredClaim): boolean => !undecided.has(claim.uuid) || isPastFirstClaims()
    const listed = await claims.listUnanswered(memory.node, endedBySeconds(), BATCH + undecided.size)
    for (const unanswered of listed.filter(maySettle)) await tell(unanswered)
  }

  let running: Promise<void> = Promise.resolve()
  let cancel: (() => void) | null = null
  const begin = (): void => {
    running = pass()
      .catch(onError)
      .then(() => {
        if (cancel !== null) cancel = after(PAUSE_MS, begin)
      })
  }
  return {
    pass,
    start: (): void => {
      cancel = () => undefined
      begin()
    },
    stop: async (): Promise<void> => {
      cancel?.()
      cancel = null
      await running
    },
  }
}
