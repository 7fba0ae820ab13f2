// Conformance tests of the secp256k1 backends. A backend that is not installed is skipped by name.
import { beforeAll, describe, expect, test } from 'bun:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { SignerUnusableError } from '../../src/signing/errors.ts'
import rfc6979 from '../vectors/rfc6979-secp256k1.json'
import { hasLowS, recoverWithNoble } from './rounds.ts'
import { backendCandidates, keySpellings, printedForms, sha256, testKey } from './test-keys.ts'

const DIFFERENTIAL_DIGESTS = 1_000
const ORDER = secp256k1.Point.CURVE().n

const bytesOf = (hex: string): Uint8Array => Uint8Array.fromHex(hex.startsWith('0x') ? hex.slice(2) : hex)
const bytes32 = (value: bigint): Uint8Array => bytesOf(value.toString(16).padStart(64, '0'))

interface Expected {
  readonly key: Uint8Array
  readonly digest: Uint8Array
  readonly signature: string
}

/** Returns noble's signature, r ‖ s ‖ v. */
const signWithNoble = (key: Uint8Array, digest: Uint8Array): string => {
  const recovered = secp256k1.sign(digest, key, { prehash: false, format: 'recovered', lowS: true })
  return `${recovered.subarray(1).toHex()}${(27 + recovered[0]!).toString(16)}`
}

const EDGE_KEYS = [1n, 2n, ORDER - 1n, ORDER / 2n].map(bytes32)
const EDGE_DIGESTS = [0n, 1n, ORDER / 2n, ORDER - 1n].map(bytes32)
const DIGESTS_NOT_BELOW_THE_ORDER = [ORDER, ORDER + 1n, 2n ** 256n - 1n].map(bytes32)

let differential: readonly Expected[] = []
beforeAll(() => {
  const keys = Array.from({ length: 16 }, (_, i) => testKey(i + 1))
  differential = Array.from({ length: DIFFERENTIAL_DIGESTS }, (_, i) => {
    const key = keys[i % keys.length]!
    const digest = sha256(`countersign differential digest ${i}`)
    return { key, digest, signature: signWithNoble(key, digest) }
  })
}, 60_000)

for (const { name, label, backend, reason } of backendCandidates()) {
  describe.skipIf(backend === null)(`secp256k1 backend ${label}${reason && ` (skipped: ${reason})`}`, () => {
    const signerOf = (key: Uint8Array) => backend!.createSigner(key)
    const sign = (key: Uint8Array, digest: Uint8Array): string => {
      const signature = new Uint8Array(65)
      signerOf(key).sign(digest, signature)
      return signature.toHex()
    }

    test('reports its name and interface', () => {
      expect(backend!.name).toBe(name)
      const access = /by (bun:ffi|Node-API)$/.exec(backend!.description)?.[1]
      // Node-API is the fallback of machines whose prebuilt file exports no symbols.
      if (name === 'secp256k1-node' && process.platform === 'linux') {
        expect(access).toBe(label === name ? 'bun:ffi' : 'Node-API')
      }
    })

    test.each(rfc6979.vectors)('signs the published RFC 6979 vector "$message"', (vector) => {
      const signature = sign(bytesOf(vector.private_key), sha256(vector.message))
      expect(signature.slice(0, 128)).toBe(vector.signature)
    })

    test('derives the public keys like noble', () => {
      for (const key of [...EDGE_KEYS, ...Array.from({ length: 20 }, (_, i) => testKey(i))]) {
        expect(signerOf(key).publicKey.toHex()).toBe(secp256k1.getPublicKey(key, false).toHex())
      }
    })

    test('signs edge digests with edge keys like noble', () => {
      for (const key of EDGE_KEYS) {
        for (const digest of EDGE_DIGESTS) expect(sign(key, digest)).toBe(signWithNoble(key, digest))
      }
    })

    // The nonce may differ: libsecp256k1 before 0.2, which the npm package bundles, does not reduce the digest first. A
    // Keccak or SHA-256 digest is almost never that large.
    test('signs digests not below the order with valid, deterministic signatures', () => {
      for (const digest of DIGESTS_NOT_BELOW_THE_ORDER) {
        const signature = bytesOf(sign(testKey(1), digest))
        expect(hasLowS(signature)).toBe(true)
        expect(recoverWithNoble(signature, digest).toHex()).toBe(signerOf(testKey(1)).publicKey.toHex())
        expect(sign(testKey(1), digest)).toBe(signature.toHex())
      }
    })

    test('signs random digests like noble, always with low s', () => {
      const signers = new Map<Uint8Array, ReturnType<typeof signerOf>>()
      const signature = new Uint8Array(65)
      for (const { key, digest, signature: expected } of differential) {
        const signer = signers.get(key) ?? signerOf(key)
        signers.set(key, signer)
        signer.sign(digest, signature)
        if (signature.toHex() !== expected) throw new Error(`${digest.toHex()} is signed differently`)
        if (!hasLowS(signature)) throw new Error(`${digest.toHex()} is signed with a high s`)
      }
    })

    test('recovers only the signer of a signature', () => {
      for (const { key, digest, signature } of differential.slice(0, 20)) {
        const bytes = bytesOf(signature)
        const publicKey = signerOf(key).publicKey.toHex()
        expect(backend!.recover(digest, bytes)?.toHex()).toBe(publicKey)
        expect(backend!.recover(sha256(digest), bytes)?.toHex()).not.toBe(publicKey)
        bytes[64] = 55 - bytes[64]!
        expect(backend!.recover(digest, bytes)?.toHex()).not.toBe(publicKey)
      }
      const { digest } = differential[0]!
      const zeros = Buffer.concat([new Uint8Array(64), Uint8Array.of(27)])
      const wrongV = Buffer.concat([testKey(1), testKey(2), Uint8Array.of(26)])
      for (const bytes of [zeros, wrongV, Buffer.alloc(65, 0xff)]) expect(backend!.recover(digest, bytes)).toBeNull()
    })

    test('accepts views of larger buffers, and writes only to the view', () => {
      const key = testKey(3)
      const digest = sha256('a digest')
      const around = new Uint8Array(65 + 40).fill(0xee)
      const holder = new Uint8Array(100)
      holder.set(key, 7)
      holder.set(digest, 50)
      signerOf(holder.subarray(7, 39)).sign(holder.subarray(50, 82), around.subarray(20, 85))
      expect(around.subarray(20, 85).toHex()).toBe(signWithNoble(key, digest))
      expect([...around.subarray(0, 20), ...around.subarray(85)].every((byte) => byte === 0xee)).toBe(true)
    })

    test('copies the key, and refuses to sign after the key is erased', () => {
      const key = testKey(4)
      const signer = signerOf(key)
      const digest = sha256('a digest')
      const expected = signWithNoble(key, digest)
      key.fill(0)
      const signature = new Uint8Array(65)
      signer.sign(digest, signature)
      expect(signature.toHex()).toBe(expected)
      signer.erase()
      expect(() => signer.sign(digest, signature)).toThrow(SignerUnusableError)
    })

    test.each<[string, Uint8Array]>([
      ['zero', new Uint8Array(32)],
      ['the order', bytes32(ORDER)],
      ['over the order', new Uint8Array(32).fill(0xff)],
      ['31 bytes', testKey(1).subarray(1)],
      ['33 bytes', new Uint8Array(33).fill(1)],
      ['empty', new Uint8Array()],
    ])('refuses a key that is %s', (_, key) => {
      expect(() => signerOf(key)).toThrow(SignerUnusableError)
    })

    test.each<[string, number, number]>([
      ['a digest of 31 bytes', 31, 65],
      ['a digest of 33 bytes', 33, 65],
      ['no digest', 0, 65],
      ['a buffer of 64 bytes', 32, 64],
      ['a buffer of 66 bytes', 32, 66],
    ])('refuses %s', (_, digestLength, signatureLength) => {
      const signer = signerOf(testKey(1))
      const signature = new Uint8Array(signatureLength)
      expect(() => signer.sign(new Uint8Array(digestLength), signature)).toThrow(SignerUnusableError)
      expect(signature.every((byte) => byte === 0)).toBe(true)
    })

    test('does not print the key', () => {
      const key = testKey(5)
      const printed = printedForms({ backend, signer: signerOf(key) })
      for (const spelling of keySpellings(key)) expect(printed).not.toContain(spelling)
    })
  })
}
