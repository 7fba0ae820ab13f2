// Logs sign-ins and other proofs of identity, but no entered text: users sometimes type a password as the email
// address.
import { createLineLimit } from '../lib/throttle.ts'
import type { Logger } from './log.ts'

export interface ReportedAttempt {
  readonly how: string
  /** Null if there is no such account, or the attempt was refused before the lookup. */
  readonly account: string | null
  readonly address: string
  /** Error code; null if the proof was accepted. */
  readonly refused: string | null
}

export const createSignInReport = (dependencies: {
  readonly log: Pick<Logger, 'info'>
  readonly monotonicMs: () => number
}): ((attempt: ReportedAttempt) => void) => {
  const { log, monotonicMs } = dependencies
  const limit = createLineLimit(monotonicMs)
  return ({ how, account, address, refused }) => {
    if (refused === null) {
      log.info('sign-in or confirmation succeeded', { how, account, address })
      return
    }
    const unlogged = limit()
    if (unlogged !== null) {
      log.info('sign-in or confirmation refused', { how, account, address, code: refused, unlogged })
    }
  }
}
