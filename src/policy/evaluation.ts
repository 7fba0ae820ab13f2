// The facts of one evaluation, for a policy's compiled expressions. Each policy has one such object, which is bound to
// one request at a time. Evaluation is synchronous, and no request data is retained.
import type { AttestationRequest } from '../domain/attestation.ts'
import type { CallTable, DecodedCall } from './calls/call-table.ts'
import { FactUnavailableError } from './fact-unavailable.ts'
import type { EvaluationFacts } from './types/facts.ts'
import { AddressValue, Uint256 } from './values.ts'

const NOTHING: EvaluationFacts = {}
const NO_REQUEST = new FactUnavailableError('the request')

export class Evaluation {
  facts: EvaluationFacts = NOTHING
  readonly #calls: CallTable | null
  // Values that several rules read are created once, because creating them costs more than reading them.
  #wallet: AddressValue | null = null
  #represented: AddressValue | null = null
  #target: AddressValue | null = null
  #value: Uint256 | null = null
  #call: DecodedCall | null | undefined
  /** The first unavailable fact that the current rule read; null if there is none. */
  unavailable: FactUnavailableError | null = null

  constructor(calls: CallTable | null) {
    this.#calls = calls
  }

  bind(facts: EvaluationFacts): void {
    this.facts = facts
    this.#wallet = null
    this.#represented = null
    this.#target = null
    this.#value = null
    this.#call = undefined
  }

  /** Drops the references to the last request. */
  release(): void {
    this.bind(NOTHING)
  }

  /** Notes an unavailable fact, and returns the error to throw. */
  noteUnavailable(error: FactUnavailableError): FactUnavailableError {
    this.unavailable ??= error
    return error
  }

  /**
   * A policy that decides sessions cannot be saved with a rule that reads a request. If one exists anyway, the rule
   * fails.
   */
  get request(): AttestationRequest {
    const { request } = this.facts
    if (request === undefined) throw NO_REQUEST
    return request
  }

  get wallet(): AddressValue {
    this.#wallet ??= new AddressValue(this.request.from)
    return this.#wallet
  }

  /** The user whom the wallet represents, or the wallet itself. */
  get represented(): AddressValue {
    const { onBehalf } = this.request
    if (onBehalf === '') return this.wallet
    this.#represented ??= new AddressValue(onBehalf)
    return this.#represented
  }

  get target(): AddressValue {
    this.#target ??= new AddressValue(this.request.to)
    return this.#target
  }

  get value(): Uint256 {
    this.#value ??= Uint256.ofCanonical(this.request.value)
    return this.#value
  }

  /** Null if the data is not a call described in the policy's abi or idl. */
  get call(): DecodedCall | null {
    if (this.#call === undefined) {
      const {
        chain: { family },
        data,
      } = this.request
      this.#call = this.#calls === null ? null : this.#calls.decode(family, data)
    }
    return this.#call
  }
}
