// Logs every sign-in and other proof of identity, accepted or refused: kind, account, source address and the answer's
// code. Never logs what was typed, not even the email address, because people easily type a password there.
import { createLineLimit } from '../lib/line-limit.ts'
import type { Logger } from './log.ts'

export interface ReportedAttempt {
  readonly how: string
  /** The account's id. Null when there is no such account, or the attempt was refused before it was looked up. */
  readonly account: string | null
  readonly address: string
  /** The code of the answer; null when the proof was accepted. */
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
      log.info('a sign-in or confirmation succeeded', { how, account, address })
      return
    }
    const unlogged = limit()
    if (unlogged !== null) {
      log.info('a sign-in or confirmation was refused', { how, account, address, code: refused, unlogged })
    }
  }
}
