// The `address` type of the policy language: an EVM or Solana address. Two addresses are equal when their bytes are.

export class AddressValue {
  /** Canonical: equal texts mean equal bytes (see domain/address.ts). */
  readonly text: string
  constructor(canonicalText: string) {
    this.text = canonicalText
  }
}
