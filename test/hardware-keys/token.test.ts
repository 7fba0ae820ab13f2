// Keys in a token (SoftHSM): lookup, signatures, failures, and refused PINs, which are not retried.
import { beforeAll, describe, expect, test } from 'bun:test'
import { createPublicKey, verify } from 'node:crypto'
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import bs58 from 'bs58'
import { createSignatureCheck } from '../../src/modules/hardware-keys/checked-signature.ts'
import { isPkcs11Supported } from '../../src/modules/hardware-keys/cryptoki-module.ts'
import { createToken, type Token } from '../../src/modules/hardware-keys/token.ts'
import { evmAddressOf } from '../../src/signing/address.ts'
import { AttesterMismatchError, TokenUnavailableError, TokenUnusableError } from '../../src/signing/errors.ts'
import { loadNobleSecp256k1 } from '../../src/signing/secp256k1-noble.ts'
import type { TokenSettings } from '../../src/signing/types.ts'
import { hasLowS, recoverWithNoble } from '../signing/rounds.ts'
import { sha256, testKey } from '../signing/test-keys.ts'
import { PIN, type SoftHsm, softHsm, WITHOUT_SHIM, WITHOUT_SOFT_HSM } from './soft-hsm.ts'

const { recover } = loadNobleSecp256k1()
const EVM = { kind: 'secp256k1', key: 'pkcs11:object=evm', address: null } as const
const SOLANA = { kind: 'ed25519', key: 'pkcs11:id=%02', address: null } as const
const DIGEST = sha256('a digest')

/** A token with a manual clock. */
const open = (settings: TokenSettings): Token & { advance(ms: number): void } => {
  let nowMs = 0
  const token = createToken(settings, { monotonicMs: () => nowMs, recover })
  const advance = (ms: number): void => {
    nowMs += ms
  }
  return { ...token, advance }
}

const failure = (work: () => unknown): Error & { readonly detail: string } => {
  try {
    work()
  } catch (error) {
    return error as Error & { readonly detail: string }
  }
  throw new Error('nothing was thrown')
}

test('Windows and 32-bit systems, which have another memory layout of structures, are not supported', () => {
  expect(isPkcs11Supported('win32', 'x64')).toBe(false)
  expect(isPkcs11Supported('linux', 'ia32')).toBe(false)
  expect(isPkcs11Supported('linux', 'x64') && isPkcs11Supported('darwin', 'arm64')).toBe(true)
})

describe('a signature from a token', () => {
  const key = testKey(1)
  const signer = loadNobleSecp256k1().createSigner(key)
  const check = createSignatureCheck({ kind: 'secp256k1', publicKey: signer.publicKey }, recover)
  const expected = new Uint8Array(65)
  signer.sign(DIGEST, expected)
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

  test('gets its recovery id and the low s', () => {
    const high = Buffer.from(expected.subarray(0, 64))
    high.set(Uint8Array.fromHex((ORDER - BigInt(`0x${high.subarray(32).toHex()}`)).toString(16).padStart(64, '0')), 32)
    expect(check(expected.subarray(0, 64), DIGEST).toHex()).toBe(expected.toHex())
    expect(check(high, DIGEST).toHex()).toBe(expected.toHex())
  })

  test.each([
    ['of another digest', () => check(expected.subarray(0, 64), sha256('another'))],
    ['with r = 0', () => check(Buffer.concat([new Uint8Array(32), expected.subarray(32, 64)]), DIGEST)],
    ['with r and s above the order', () => check(new Uint8Array(64).fill(0xff), DIGEST)],
  ])('%s is refused', (_, work) => {
    expect(failure(work)).toBeInstanceOf(TokenUnavailableError)
  })
})

describe.skipIf(WITHOUT_SOFT_HSM !== '')(`a token${WITHOUT_SOFT_HSM}`, () => {
  let hsm: SoftHsm
  beforeAll(() => {
    hsm = softHsm()
  })

  test('signs digests with its EVM key, with low s and the correct v', () => {
    const token = open(hsm.settings())
    const { address, publicKey, isExtractable } = token.look(EVM)
    expect(address).toBe(evmAddressOf(publicKey))
    expect(isExtractable).toBe(false)
    const seen = new Set<number>()
    for (let i = 0; i < 40; i++) {
      const digest = sha256(`digest ${i}`)
      const signature = token.sign({ ...EVM, address }, digest)
      expect(signature).toHaveLength(65)
      expect(hasLowS(signature)).toBe(true)
      expect(recoverWithNoble(signature, digest).toHex()).toBe(publicKey.toHex())
      seen.add(signature[64]!)
    }
    expect([...seen].toSorted()).toEqual([27, 28])
  })

  test('signs messages with its Ed25519 key', () => {
    const token = open(hsm.settings())
    const { address } = token.look(SOLANA)
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bs58.decode(address)])
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
    const signature = token.sign({ ...SOLANA, address }, DIGEST)
    expect(verify(null, DIGEST, key, signature)).toBe(true)
  })

  test('does not sign digests whose length is not 32 bytes, and does not sign with the key of another address', () => {
    const token = open(hsm.settings())
    expect(failure(() => token.sign(EVM, new Uint8Array(31)))).toBeInstanceOf(TokenUnusableError)
    const { publicKey } = loadNobleSecp256k1().createSigner(testKey(2))
    const error = failure(() => token.sign({ ...EVM, address: evmAddressOf(publicKey) }, DIGEST))
    expect(error).toBeInstanceOf(AttesterMismatchError)
  })

  test.each<[string, Partial<TokenSettings>, string, string]>([
    ['a missing module', { module: '/nowhere/module.so' }, EVM.key, '/nowhere/module.so can’t be loaded'],
    ['a module of another kind', { module: 'libc' }, EVM.key, 'libc can’t be loaded'],
    ['another token label', { token: 'another' }, EVM.key, 'has a token labeled another'],
    ['another key label', {}, 'pkcs11:object=none', 'no secp256k1 key pkcs11:object=none'],
    ['a key of another kind', {}, SOLANA.key, 'no secp256k1 key pkcs11:id=%02'],
    ['an invalid key name', {}, 'evm', 'evm does not name a key'],
  ])('is not found with %s', async (_, overrides, key, text) => {
    const { detail } = failure(() => open(hsm.settings(overrides)).look({ ...EVM, key }))
    expect(detail.replaceAll("'", '’')).toContain(text)
  })

  describe.skipIf(WITHOUT_SHIM !== '')(`behind a module that fails${WITHOUT_SHIM}`, () => {
    const openBehind = (pinText = PIN) => {
      const shim = hsm.shim()
      const settings = hsm.settings({ module: shim.module, pinText })
      return { shim, settings, token: open(settings) }
    }

    test('fails while it is removed, and signs when it is inserted', () => {
      const { shim, token } = openBehind()
      const before = token.look(EVM)
      shim.trouble('gone')
      const error = failure(() => token.sign(EVM, DIGEST))
      expect(error).toBeInstanceOf(TokenUnavailableError)
      expect(error.detail).toContain('CKR_DEVICE_REMOVED')
      shim.trouble('')
      // It is not retried immediately, so that other keys do not wait.
      expect(failure(() => token.sign(EVM, DIGEST)).detail).toBe(error.detail)
      token.advance(1_000)
      expect(recoverWithNoble(token.sign(EVM, DIGEST), DIGEST).toHex()).toBe(before.publicKey.toHex())
    })

    test('is logged in to again within the same call if it lost its sessions', () => {
      const { shim, token } = openBehind()
      token.sign(EVM, DIGEST)
      shim.trouble('reset')
      expect(token.sign(EVM, DIGEST)).toHaveLength(65)
      expect(shim.logins().at(-1)).toBe('0')
    })

    test('returns no wrong signatures', () => {
      const { shim, token } = openBehind()
      for (const reference of [EVM, SOLANA]) {
        token.look(reference)
        shim.trouble('lying')
        expect(failure(() => token.sign(reference, DIGEST)).detail).toContain('doesn’t match the attester’s key')
        shim.trouble('')
      }
    })

    test.each<[string, TokenSettings['pin']]>([
      ['a missing file', { source: 'file', path: '/nowhere/pin' }],
      ['an unset variable', { source: 'environment', name: 'NO_SUCH_PIN' }],
    ])('gets no login if the PIN is in %s', (_, pin) => {
      const shim = hsm.shim()
      shim.trouble('reset')
      const error = failure(() => open(hsm.settings({ module: shim.module, pin })).look(EVM))
      expect(error).toBeInstanceOf(TokenUnusableError)
      expect(error.detail).toContain(pin.source === 'file' ? pin.path : pin.name)
      expect(shim.logins()).toEqual([])
    })

    test('signs with a key despite failures of another key', () => {
      const { token } = openBehind()
      expect(failure(() => token.sign({ ...EVM, key: 'pkcs11:object=none' }, DIGEST)).detail).toContain('no secp256k1')
      expect(token.sign(EVM, DIGEST)).toHaveLength(65)
    })

    test('gets a wrong PIN only once, from any thread', () => {
      const first = openBehind('111111')
      first.shim.trouble('reset')
      expect(failure(() => first.token.look(EVM)).detail).toContain('refused the PIN (CKR_PIN_INCORRECT)')
      first.token.advance(60_000)
      const again = failure(() => first.token.look(EVM))
      expect(again).toBeInstanceOf(TokenUnusableError)
      expect(again.detail).toContain('has refused this PIN before')
      // Another thread, or a restart.
      expect(failure(() => open(first.settings).look(EVM)).detail).toContain('has refused this PIN before')
      expect(first.shim.logins()).toEqual(['a0'])
      const refused = `${first.settings.loginFile}.refused`
      expect(readFileSync(refused).includes('111111')).toBe(false)
      expect(again.detail).not.toContain('111111')
      // A corrected PIN is tried, and the recorded refusal is deleted.
      const corrected = { ...first.settings, pin: hsm.settings().pin }
      expect(open(corrected).look(EVM).kind).toBe('secp256k1')
      expect(existsSync(refused)).toBe(false)
    })

    test('is logged in to despite a claim that a killed process made before the clock was set back', () => {
      const { shim, settings, token } = openBehind()
      shim.trouble('reset')
      const claim = `${settings.loginFile}.claim`
      writeFileSync(claim, '')
      utimesSync(claim, Date.now() / 1_000 + 31, Date.now() / 1_000 + 31)
      expect(token.look(EVM).kind).toBe('secp256k1')
      expect(existsSync(claim)).toBe(false)
    })
  })
})
