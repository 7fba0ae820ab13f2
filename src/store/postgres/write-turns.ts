// Admits writes to a PostgreSQL pool: organizations take turns, and claims never wait for other writes.
import { type Caller, currentCaller } from '../../lib/caller.ts'
import type { Clock } from '../../lib/time.ts'
import { createBacklogs } from '../backlog.ts'
import type { Database, TransactionOptions } from '../database.ts'
import { createStoreTurns } from '../store-turns.ts'

export interface WriteTurnsOptions {
  readonly writers: number
  readonly maximumQueued: number
  readonly waitMs: number
  readonly clock: Pick<Clock, 'monotonicMs'>
}

export interface WriteTurns {
  run<Result>(write: () => Promise<Result>, options: TransactionOptions): Promise<Result>
  readonly backlogMs: Database['backlogMs']
}

/** Share of the connections that only claims use. */
const CLAIM_SHARE = 1 / 3
/** Maximum waiting writes per organization: about two seconds of work. */
const OWN_WAITING_MAX = 1_000
/** The second half is reserved for requests that already hold a claim. */
const OWN_CLAIMS_WAITING_MAX = 2_000

/** A waiting write is withdrawn when its request ends. Later writes of the request are its cleanup. */
const writingCaller = (): Caller => {
  const { owner, signal } = currentCaller()
  return { owner, signal: signal?.aborted ? null : signal }
}

export const createWriteTurns = ({ writers, maximumQueued, waitMs, clock }: WriteTurnsOptions): WriteTurns => {
  /** One organization must leave a connection free for the others. */
  const createTurns = (running: number, ownWaiting: number) =>
    createStoreTurns({ running, ownRunning: Math.max(1, running - 1), ownWaiting, waitMs })
  const claimsOnly = Math.max(1, Math.floor(writers * CLAIM_SHARE))
  const ordinary = createTurns(Math.max(1, writers - claimsOnly), Math.min(maximumQueued, OWN_WAITING_MAX))
  const ownClaimsWaiting = Math.min(maximumQueued, OWN_CLAIMS_WAITING_MAX)
  const claims = createTurns(writers, ownClaimsWaiting)
  const backlogs = createBacklogs(ownClaimsWaiting, clock.monotonicMs)

  return {
    run: async (write, { queue, owner = '' }) => {
      if (queue !== 'claim') return ordinary.run(write, writingCaller())
      backlogs.add(owner)
      try {
        // The write isn't withdrawn with the request: without the outcome, a retry would fail.
        return await claims.run(write, { owner, signal: null })
      } finally {
        backlogs.remove(owner)
      }
    },
    backlogMs: backlogs.waitMs,
  }
}
