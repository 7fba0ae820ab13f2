// Converts a token's signature to the format of contracts and programs, and verifies it with the attester's key.
import { createPublicKey, verify } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { TokenUnavailableError } from '../../signing/errors.ts'
import type { Secp256k1Backend } from '../../signing/types.ts'
import type { TokenKey } from './keys.ts'

/** @param raw 64 bytes from the token @param signed 32 bytes */
export type CheckSignature = (raw: Uint8Array, signed: Uint8Array) => Uint8Array

const { n: ORDER } = secp256k1.Point.CURVE()
const ED25519_SPKI_HEADER = Uint8Array.fromHex('302a300506032b6570032100')

const refusal = (): TokenUnavailableError =>
  new TokenUnavailableError('the token returned a signature that doesn’t match the attester’s key')

/** EIP-2 and OpenZeppelin's ECDSA refuse the higher of two valid values of s. */
const lowerS = (signature: Uint8Array): void => {
  const s = BigInt(`0x${signature.subarray(32, 64).toHex()}`)
  if (s * 2n <= ORDER || s >= ORDER) return
  signature.subarray(32, 64).setFromHex((ORDER - s).toString(16).padStart(64, '0'))
}

/** r ‖ s ‖ v with low s and v 27 or 28. PKCS#11 has no recovery id, so both are tried. */
const createSecp256k1Check =
  (publicKey: Uint8Array, recover: Secp256k1Backend['recover']): CheckSignature =>
  (raw, digest) => {
    const signature = Buffer.alloc(65)
    signature.set(raw)
    lowerS(signature)
    for (const v of [27, 28]) {
      signature[64] = v
      const recovered = recover(digest, signature)
      if (recovered !== null && Buffer.compare(recovered, publicKey) === 0) return signature
    }
    throw refusal()
  }

const createEd25519Check = (publicKey: Uint8Array): CheckSignature => {
  const der = Buffer.concat([ED25519_SPKI_HEADER, publicKey])
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return (raw, message) => {
    if (!verify(null, message, key, raw)) throw refusal()
    return raw
  }
}

export const createSignatureCheck = (
  { kind, publicKey }: Pick<TokenKey, 'kind' | 'publicKey'>,
  recover: Secp256k1Backend['recover'],
): CheckSignature => (kind === 'secp256k1' ? createSecp256k1Check(publicKey, recover) : createEd25519Check(publicKey))
