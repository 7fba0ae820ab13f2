// Records the outcome of requests that this node did not finish answering. Until then, other nodes reject a retry
// (invariant 3).
import { type Clock, createHeldClock, type Timers } from '../lib/time.ts'
import { KEEP_SLACK_SECONDS, type NodeMemory } from '../server/idempotency.ts'
import type { IdempotencyTable, UnansweredClaim } from '../store/idempotency.ts'

export interface ClaimTellerDependencies {
  readonly memory: NodeMemory
  readonly claims: Pick<IdempotencyTable, 'listUnanswered' | 'complete' | 'release'>
  readonly clock: Clock
  /** Lifetime of a claim: longer than any process can spend on its request. */
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
  /** Time by which a claim must have expired to ensure that no process of this node still works on it. */
  const endedBySeconds = createHeldClock(clock, claimMs)
  /** True if all claims from before this process started have expired. */
  const isPastFirstClaims = (): boolean => clock.monotonicMs() - startedMs >= claimMs
  /** Uuids without a record, whose claims are released later. */
  const undecided = new Set<string>()

  /** Nothing is signed under these claims any longer. If a retry has taken over a claim, it keeps it. */
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
      // An older process may still work on a claim from before this process started to read the clocks.
      undecided.add(claim.uuid)
    } else {
      // Either nothing was signed or the signature has expired, so the next request with this key is a new one.
      await claims.release(claim)
      undecided.delete(claim.uuid)
    }
  }

  /** Settles up to a hundred claims. Rejects if the store or the log can't be read. */
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
