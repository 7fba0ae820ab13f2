// secp256k1 with @noble/curves: portable, several times slower than native code, without its constant-time guarantee.
// Also the reference for testing the other backends.
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { SignerUnusableError } from './errors.ts'
import type { Secp256k1Backend } from './types.ts'

// By default, noble hashes with SHA-256 first and omits the recovery byte.
const SIGN_OPTIONS = { prehash: false, format: 'recovered', lowS: true } as const

export const loadNobleSecp256k1 = (): Secp256k1Backend => ({
  name: 'noble',
  description: '@noble/curves',
  createSigner: (privateKey) => {
    if (privateKey.length !== 32 || !secp256k1.utils.isValidSecretKey(privateKey)) {
      throw new SignerUnusableError('invalid secp256k1 private key')
    }
    const publicKey = secp256k1.getPublicKey(privateKey, false)
    const key = Uint8Array.from(privateKey)
    return {
      publicKey,
      sign: (digest, signature) => {
        if (digest.length !== 32 || signature.length !== 65) {
          throw new SignerUnusableError('a digest must be 32 bytes and a signature 65 bytes')
        }
        try {
          const recovered = secp256k1.sign(digest, key, SIGN_OPTIONS)
          // Noble puts the recovery id first; contracts expect it last.
          signature.set(recovered.subarray(1))
          signature[64] = 27 + recovered[0]!
        } catch {
          throw new SignerUnusableError('@noble/curves could not sign')
        }
      },
      erase: () => void key.fill(0),
    }
  },
  recover: (digest, signature) => {
    try {
      const { r, s } = secp256k1.Signature.fromBytes(signature.subarray(0, 64), 'compact')
      return new secp256k1.Signature(r, s, signature[64]! - 27).recoverPublicKey(digest).toBytes(false)
    } catch {
      return null
    }
  },
})
