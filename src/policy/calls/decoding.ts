// Shared by the ABI and Anchor IDL decoders: the decoding error and the limit of decoded values.
import { NamedError } from '../../lib/named-error.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'

/** The data does not match the function. A preallocated instance is thrown, because most calls do not match. */
class CallMalformedError extends NamedError {}

export const MALFORMED = new CallMalformedError('the call data is not well-formed')

/** A value that is present but exceeds the limits of policies. Only reading this value fails. */
export class UnreadableValue {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

export const TOO_LONG = new UnreadableValue('longer than a policy may read')
export const OUT_OF_RANGE = new UnreadableValue('beyond the 64 bits of an int')

/**
 * Limits the number of decoded values per call. Several offsets may point to the same place, so short data can expand
 * to many values.
 */
export class DecodingBudget {
  #left: number = POLICY_LIMITS.decodedValues

  reset(): void {
    this.#left = POLICY_LIMITS.decodedValues
  }

  /** @throws CallMalformedError if the data contains more values than a policy may read */
  spend(values = 1): void {
    this.#left -= values
    if (this.#left < 0) throw MALFORMED
  }
}
