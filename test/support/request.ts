// The attestation request of tests, with changes per test. Addresses are plain text.
import type { AttestationRequest } from '../../src/domain/attestation.ts'
import { BUILT_IN_CHAINS, type Chain } from '../../src/domain/chain.ts'

export type RequestChanges = {
  readonly [Field in keyof AttestationRequest]?: AttestationRequest[Field] extends string
    ? string
    : AttestationRequest[Field]
}

/** Returns the built-in chain of this name. */
export const chainOf = (name: string): Chain => {
  const chain = BUILT_IN_CHAINS.find((candidate) => candidate.name === name)
  if (chain === undefined) throw new Error(`there is no chain ${name}`)
  return chain
}

export const requestOf = (changes: RequestChanges = {}): AttestationRequest =>
  ({
    chain: chainOf('ethereum'),
    from: `0x${'11'.repeat(20)}`,
    onBehalf: '',
    to: `0x${'22'.repeat(20)}`,
    value: '0',
    data: '0x',
    userIp: '',
    nowSeconds: 1_800_000_000,
    ...changes,
  }) as AttestationRequest
