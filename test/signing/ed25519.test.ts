// The Ed25519 signer, compared with RFC 8032 and noble.
import { describe, expect, test } from 'bun:test'
import * as noble from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'
import { chooseEd25519, createEd25519Signer, openNoble } from '../../src/signing/ed25519.ts'
import { SignerUnusableError } from '../../src/signing/errors.ts'
import rfc8032 from '../vectors/rfc8032-ed25519.json'
import { keySpellings, printedForms, sha256, testKey } from './test-keys.ts'

noble.hashes.sha512 = sha512

describe('the Ed25519 signer', () => {
  test.each(rfc8032.vectors)('equals RFC 8032, $name', (vector) => {
    const signer = createEd25519Signer(Uint8Array.fromHex(vector.seed))
    expect(signer.publicKey.toHex()).toBe(vector.public_key)
    expect(signer.sign(Uint8Array.fromHex(vector.message)).toHex()).toBe(vector.signature)
  })

  test('matches noble for random keys and messages, and for all-zero and all-one seeds', () => {
    const seeds = Array.from({ length: 300 }, (_, i) => testKey(i))
    for (const [i, seed] of [new Uint8Array(32), new Uint8Array(32).fill(0xff), ...seeds].entries()) {
      const message = sha256(`countersign message ${i}`)
      const signer = createEd25519Signer(seed)
      expect(signer.publicKey.toHex()).toBe(noble.getPublicKey(seed).toHex())
      expect(signer.sign(message).toHex()).toBe(noble.sign(message, seed).toHex())
    }
  })

  test('copies the seed, and refuses to sign after the seed is erased', () => {
    const seed = testKey(1)
    const signer = createEd25519Signer(seed)
    const before = signer.sign(sha256('m')).toHex()
    seed.fill(0)
    expect(signer.sign(sha256('m')).toHex()).toBe(before)
    signer.erase()
    expect(() => signer.sign(sha256('m'))).toThrow(SignerUnusableError)
  })

  test.each([0, 31, 33, 64])('refuses a seed of %d bytes', (length) => {
    expect(() => createEd25519Signer(new Uint8Array(length))).toThrow(SignerUnusableError)
  })

  test('does not print the key', () => {
    const seed = testKey(2)
    const printed = printedForms(createEd25519Signer(seed))
    for (const spelling of keySpellings(seed)) expect(printed).not.toContain(spelling)
  })

  test('uses noble if the runtime lacks Ed25519', () => {
    const open = chooseEd25519(() => {
      throw new Error('unsupported')
    })
    expect(open).toBe(openNoble)
    expect(chooseEd25519()).not.toBe(openNoble)
    for (const vector of rfc8032.vectors) {
      const seed = Uint8Array.fromHex(vector.seed)
      const key = open(seed)
      seed.fill(0)
      expect(key.publicKey.toHex()).toBe(vector.public_key)
      expect(key.sign(Uint8Array.fromHex(vector.message)).toHex()).toBe(vector.signature)
    }
  })
})
