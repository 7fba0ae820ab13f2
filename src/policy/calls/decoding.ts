// Shared by the ABI and the Anchor IDL decoders: how decoding fails, and how much one call may decode.
import { NamedError } from '../../lib/named-error.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'

/**
 * The data does not match the function. One instance is created in advance, because it is thrown for each call that is
 * not the policy's.
 */
class CallMalformedError extends NamedError {}

export const MALFORMED = new CallMalformedError('the call data is not well-formed')

/**
 * Stands for a value that is present but that a policy can't hold. Only reading this value fails, not reading others.
 */
export class UnreadableValue {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

export const TOO_LONG = new UnreadableValue('longer than a policy may read')
export const OUT_OF_RANGE = new UnreadableValue('beyond the 64 bits of an int')

/**
 * Limits how many values one call may decode. Offsets may point anywhere, also many times to one place, so short data
 * can hold many values.
 */
export class DecodingBudget {
  #left: number = POLICY_LIMITS.decodedValues

  reset(): void {
    this.#left = POLICY_LIMITS.decodedValues
  }

  /** @throws CallMalformedError when the data would yield more values than a policy may read. */
  spend(values = 1): void {
    this.#left -= values
    if (this.#left < 0) throw MALFORMED
  }
}
