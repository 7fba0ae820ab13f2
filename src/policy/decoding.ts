// What decoding call data by an ABI and by an Anchor IDL have in common: how it fails, and how much it may do.
import { POLICY_LIMITS } from './limits.ts'

/** The data is not what the function takes. Made once: it is thrown for each call that is not the policy's. */
export class CallMalformedError extends Error {
  override readonly name = 'CallMalformedError'
}

export const MALFORMED = new CallMalformedError('the call data is not well-formed')

/** Stands for a value that is there and that a policy can't hold: reading it fails, reading others does not. */
export class UnreadableValue {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

export const TOO_LONG = new UnreadableValue('longer than a policy may read')
export const OUT_OF_RANGE = new UnreadableValue('beyond the 64 bits of an int')

/** Offsets may point anywhere, also many times to one place: what is read is counted, however short the data. */
export class DecodingBudget {
  #left: number = POLICY_LIMITS.decodedValues

  reset(): void {
    this.#left = POLICY_LIMITS.decodedValues
  }

  /** @throws CallMalformedError when the data would yield more values than a policy may read. */
  spend(): void {
    if (--this.#left < 0) throw MALFORMED
  }
}
