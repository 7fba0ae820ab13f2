// Records what happened to requests that this node did not finish answering, so that other nodes can answer: until then
// they refuse a retry (invariant 3). Only the node that may have signed knows, from its own decision log.
import { type Clock, createHeldClock, type Timers } from '../lib/time.ts'
import { KEEP_SLACK_SECONDS, type NodeMemory } from '../server/idempotency.ts'
import type { IdempotencyTable, UnansweredClaim } from '../store/idempotency.ts'

export interface ClaimTellerDependencies {
  readonly memory: NodeMemory
  readonly claims: Pick<IdempotencyTable, 'listUnanswered' | 'complete' | 'release'>
  readonly clock: Clock
  /** How long a claim is held: longer than any process works on its request. */
  readonly claimSeconds: number
  readonly after: Timers['after']
  /** Called when the store or the log can't be read. The next pass tries again. */
  readonly onError: (error: unknown) => void
}

const PAUSE_MS = 1_000
const BATCH = 100

export const createClaimTeller = (dependencies: ClaimTellerDependencies) => {
  const { memory, claims, clock, claimSeconds, after, onError } = dependencies
  const claimMs = claimSeconds * 1000
  const startedMs = clock.monotonicMs()
  /** By this time, a claim must have expired so that no process of this node still works on it. */
  const endedBySeconds = createHeldClock(clock, claimMs)
  /** Whether every claim that was made before this process started has ended. */
  const isPastFirstClaims = (): boolean => clock.monotonicMs() - startedMs >= claimMs
  /** Uuids without a record whose claims are released later. */
  const undecided = new Set<string>()

  /** Nothing is signed under these claims any more. If a retry has taken one over meanwhile, it keeps the claim. */
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
      // An older process may still work on a claim that was made before this one began to read the clocks.
      undecided.add(claim.uuid)
    } else {
      // It was not signed, or the signature can't be used any more: the next request with this key is a new one.
      await claims.release(claim)
      undecided.delete(claim.uuid)
    }
  }

  /** Settles up to a hundred claims. Rejects when the store or the log can't be read. */
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
    /** Runs once immediately, then every second. */
    start: (): void => {
      cancel = () => undefined
      begin()
    },
    /** Resolves when no pass is under way any more. */
    stop: async (): Promise<void> => {
      cancel?.()
      cancel = null
      await running
    },
  }
}
