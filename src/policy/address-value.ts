// The `address` of the policy language: an EVM or Solana address, equal when its bytes are.

export class AddressValue {
  /** Canonical: equal text is equal bytes (see domain/address.ts). */
  readonly text: string
  constructor(canonicalText: string) {
    this.text = canonicalText
  }
}
