import { NamedError } from '../../lib/named-error.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'

/** Preallocated, because most calls don't match. */
class CallMalformedError extends NamedError {}

export const MALFORMED = new CallMalformedError('the call data is not well-formed')

/** A value beyond the limits of policies. An expression fails only if it reads the value. */
export class UnreadableValue {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

export const TOO_LONG = new UnreadableValue('longer than policies can read')
export const OUT_OF_RANGE = new UnreadableValue('outside the 64-bit range of an int')

/** Limits the decoded values per call, because several offsets may refer to the same data. */
export class DecodingBudget {
  #left: number = POLICY_LIMITS.decodedValues

  reset(): void {
    this.#left = POLICY_LIMITS.decodedValues
  }

  /** @throws CallMalformedError if the limit is exceeded */
  spend(values = 1): void {
    this.#left -= values
    if (this.#left < 0) throw MALFORMED
  }
}
