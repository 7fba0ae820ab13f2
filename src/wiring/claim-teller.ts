// Records what happened to requests that this node did not finish answering, so that other nodes can answer: until then
// they refuse a retry (invariant 3). Only the node that may have signed knows, from its own decision log.
import type { Clock, Timers } from '../domain/time.ts'
import { KEEP_SLACK_SECONDS, type NodeMemory } from '../http/idempotency.ts'
import type { IdempotencyTable, UnansweredClaim } from '../store/idempotency.ts'

export interface ClaimTellerDependencies {
  readonly memory: NodeMemory
  readonly claims: Pick<IdempotencyTable, 'listUnanswered' | 'complete' | 'release'>
  readonly clock: Clock
  readonly after: Timers['after']
  /** Called when the store or the log can't be read. The next pass tries again. */
  readonly onError: (error: unknown) => void
}

const PAUSE_MS = 1_000
const BATCH = 100

export const createClaimTeller = ({ memory, claims, clock, after, onError }: ClaimTellerDependencies) => {
  /** Nothing is signed under an expired claim any more. If a retry has taken it over meanwhile, it keeps the claim. */
  const tell = async ({ claim, uuidSinceSeconds }: UnansweredClaim): Promise<void> => {
    const recalled = await memory.recall(claim.uuid, uuidSinceSeconds)
    if (recalled.outcome === 'decided') {
      const { body, keepSeconds } = recalled.answer
      await claims.complete(claim, { status: 200, body }, clock.unixSeconds() + keepSeconds + KEEP_SLACK_SECONDS)
    } else {
      // It was not signed, or the signature can't be used any more: the next request with this key is a new one.
      await claims.release(claim)
    }
  }

  /** Settles up to a hundred claims. Rejects when the store or the log can't be read. */
  const pass = async (): Promise<void> => {
    for (const unanswered of await claims.listUnanswered(memory.node, BATCH)) await tell(unanswered)
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
