// What the log says of proofs of who somebody is: each that succeeded, and each that was refused, with kind, account, source
// address and the answer's code. Never what was typed: not even the email address, where a password is easily typed.
import { createLineLimit } from './line-limit.ts'
import type { Logger } from './log.ts'

export interface ReportedAttempt {
  readonly how: string
  /** Id. Null where there is no such account, or the attempt was refused before it was looked for. */
  readonly account: string | null
  readonly address: string
  /** Code of the answer; null: it succeeded. */
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
