// The facts of one evaluation, as a policy's compiled expressions read them. Each policy has one such object, which is
// bound to one request after another: evaluating is synchronous, and nothing of a request is kept afterwards.
import { EVM_ZERO_ADDRESS } from '../domain/address.ts'
import { AddressValue } from './address-value.ts'
import type { CallTable, DecodedCall } from './call-table.ts'
import type { EvaluationFacts } from './types/facts.ts'
import { Uint256 } from './uint256.ts'

/** Before and after an evaluation, and where a session is decided. */
export const NO_REQUEST: EvaluationFacts = {
  chainName: '',
  chainFamily: 'evm',
  chainId: 0,
  from: EVM_ZERO_ADDRESS,
  onBehalf: '',
  to: EVM_ZERO_ADDRESS,
  value: '0',
  data: '0x',
  userIp: '',
  nowSeconds: 0,
}

export class Evaluation {
  request: EvaluationFacts = NO_REQUEST
  readonly #calls: CallTable | null
  // Values that several rules read are created once, because creating them costs more than the rest of reading them.
  #wallet: AddressValue | null = null
  #represented: AddressValue | null = null
  #target: AddressValue | null = null
  #value: Uint256 | null = null
  #call: DecodedCall | null | undefined

  constructor(calls: CallTable | null) {
    this.#calls = calls
  }

  bind(request: EvaluationFacts): void {
    this.request = request
    this.#wallet = null
    this.#represented = null
    this.#target = null
    this.#value = null
    this.#call = undefined
  }

  /** Drops the references to the last request. */
  release(): void {
    this.bind(NO_REQUEST)
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

  /** Null when the data is not a call that the policy's abi or idl describes. */
  get call(): DecodedCall | null {
    if (this.#call === undefined) {
      const { chainFamily, data } = this.request
      this.#call = this.#calls === null ? null : this.#calls.decode(chainFamily, data)
    }
    return this.#call
  }
}
