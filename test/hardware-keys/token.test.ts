// Keys in a token, by SoftHSM: they are found, they sign as their address says, and each way in which a token fails is a
// typed error. A refused PIN is tried once.
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

/** A token whose clock the test turns. */
const open = (settings: TokenSettings): Token & { turn(ms: number): void } => {
  let nowMs = 0
  const token = createToken(settings, { monotonicMs: () => nowMs, recover })
  return {
    ...token,
    turn: (ms) => {
      nowMs += ms
    },
  }
}

const failure = (work: () => unknown): Error & { readonly detail: string } => {
  try {
    work()
  } catch (error) {
    return error as Error & { readonly detail: string }
  }
  throw new Error('nothing was thrown')
}

test('Windows, where structures are laid out in another way, is not supported', () => {
  expect(isPkcs11Supported('win32', 'x64')).toBe(false)
  expect(isPkcs11Supported('linux', 'ia32')).toBe(false)
  expect(isPkcs11Supported('linux', 'x64') && isPkcs11Supported('darwin', 'arm64')).toBe(true)
})

describe('a signature that a token made', () => {
  const key = testKey(1)
  const signer = loadNobleSecp256k1().createSigner(key)
  const check = createSignatureCheck({ kind: 'secp256k1', publicKey: signer.publicKey }, recover)
  const expected = new Uint8Array(65)
  signer.sign(DIGEST, expected)
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

  test('gets its recovery id, and the lower s', () => {
    const high = Buffer.from(expected.subarray(0, 64))
    high.set(Uint8Array.fromHex((ORDER - BigInt(`0x${high.subarray(32).toHex()}`)).toString(16).padStart(64, '0')), 32)
    expect(check(expected.subarray(0, 64), DIGEST).toHex()).toBe(expected.toHex())
    expect(check(high, DIGEST).toHex()).toBe(expected.toHex())
  })

  test.each([
    ['of another digest', () => check(expected.subarray(0, 64), sha256('another'))],
    ['with r of zero', () => check(Buffer.concat([new Uint8Array(32), expected.subarray(32, 64)]), DIGEST)],
    ['with s of the order', () => check(new Uint8Array(64).fill(0xff), DIGEST)],
  ])('is refused when it is one %s', (_, work) => {
    expect(failure(work)).toBeInstanceOf(TokenUnavailableError)
  })
})

describe.skipIf(WITHOUT_SOFT_HSM !== '')(`a token${WITHOUT_SOFT_HSM}`, () => {
  let hsm: SoftHsm
  beforeAll(() => {
    hsm = softHsm()
  })

  test('signs digests as its EVM key, with low s and the right v', () => {
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

  test('signs messages as its Ed25519 key', () => {
    const token = open(hsm.settings())
    const { address } = token.look(SOLANA)
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bs58.decode(address)])
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
    const signature = token.sign({ ...SOLANA, address }, DIGEST)
    expect(verify(null, DIGEST, key, signature)).toBe(true)
  })

  test('refuses anything but 32 bytes', () => {
    expect(failure(() => open(hsm.settings()).sign(EVM, new Uint8Array(31)))).toBeInstanceOf(TokenUnusableError)
  })

  test('never signs with a key that is not the attester’s', () => {
    const token = open(hsm.settings())
    const error = failure(() => token.sign({ ...EVM, address: evmAddressOf(signerOf(2)) }, DIGEST))
    expect(error).toBeInstanceOf(AttesterMismatchError)
  })

  test.each<[string, Partial<TokenSettings>, string]>([
    ['a module that is missing', { module: '/nowhere/module.so' }, '/nowhere/module.so can’t be loaded'],
    ['a module that is none', { module: 'libc' }, 'libc can’t be loaded'],
    ['a token of another label', { token: 'another' }, 'has a token labeled another'],
  ])('is not opened with %s', async (_, overrides, text) => {
    const { detail } = failure(() => open(hsm.settings(overrides)).look(EVM))
    expect(detail.replaceAll("'", '’')).toContain(text)
  })

  test('has no key of another label or kind', () => {
    const token = open(hsm.settings())
    expect(failure(() => token.look({ ...EVM, key: 'pkcs11:object=none' })).detail).toContain(
      'no secp256k1 key pkcs11:object=none',
    )
    expect(failure(() => token.look({ ...EVM, key: SOLANA.key })).detail).toContain('no secp256k1 key pkcs11:id=%02')
    expect(failure(() => token.look({ ...EVM, key: 'evm' })).detail).toContain('evm does not name a key')
  })

  describe.skipIf(WITHOUT_SHIM !== '')(`behind a module that fails${WITHOUT_SHIM}`, () => {
    const openBehind = (pinText = PIN) => {
      const shim = hsm.shim()
      const settings = hsm.settings({ module: shim.module, pinText })
      return { shim, settings, token: open(settings) }
    }

    test('that was taken out is an error, and signs again when it is back', () => {
      const { shim, token } = openBehind()
      const before = token.look(EVM)
      shim.trouble('gone')
      const error = failure(() => token.sign(EVM, DIGEST))
      expect(error).toBeInstanceOf(TokenUnavailableError)
      expect(error.detail).toContain('CKR_DEVICE_REMOVED')
      shim.trouble('')
      // Not asked again at once: other keys must not wait for each try.
      expect(failure(() => token.sign(EVM, DIGEST)).detail).toBe(error.detail)
      token.turn(1_000)
      expect(recoverWithNoble(token.sign(EVM, DIGEST), DIGEST).toHex()).toBe(before.publicKey.toHex())
    })

    test('that lost its sessions is logged in to again, within the same call', () => {
      const { shim, token } = openBehind()
      token.sign(EVM, DIGEST)
      shim.trouble('reset')
      expect(token.sign(EVM, DIGEST)).toHaveLength(65)
      expect(shim.logins().at(-1)).toBe('0')
    })

    test('that makes wrong signatures gets none out', () => {
      const { shim, token } = openBehind()
      for (const reference of [EVM, SOLANA]) {
        token.look(reference)
        shim.trouble('lying')
        expect(failure(() => token.sign(reference, DIGEST)).detail).toContain('doesn’t match the attester’s key')
        shim.trouble('')
      }
    })

    test.each<[string, TokenSettings['pin']]>([
      ['a file that is missing', { source: 'file', path: '/nowhere/pin' }],
      ['a variable that is not set', { source: 'environment', name: 'NO_SUCH_PIN' }],
    ])('is not asked when the PIN is in %s', (_, pin) => {
      const shim = hsm.shim()
      shim.trouble('reset')
      const error = failure(() => open(hsm.settings({ module: shim.module, pin })).look(EVM))
      expect(error).toBeInstanceOf(TokenUnusableError)
      expect(error.detail).toContain(pin.source === 'file' ? pin.path : pin.name)
      expect(shim.logins()).toEqual([])
    })

    test('keeps one key’s trouble from another', () => {
      const { token } = openBehind()
      expect(failure(() => token.sign({ ...EVM, key: 'pkcs11:object=none' }, DIGEST)).detail).toContain('no secp256k1')
      expect(token.sign(EVM, DIGEST)).toHaveLength(65)
    })

    test('is told a wrong PIN once, whoever tries', () => {
      const first = openBehind('111111')
      first.shim.trouble('reset')
      expect(failure(() => first.token.look(EVM)).detail).toContain('refused the PIN (CKR_PIN_INCORRECT)')
      first.token.turn(60_000)
      const again = failure(() => first.token.look(EVM))
      expect(again).toBeInstanceOf(TokenUnusableError)
      expect(again.detail).toContain('has refused this PIN before')
      // Another thread, or the next start.
      expect(failure(() => open(first.settings).look(EVM)).detail).toContain('has refused this PIN before')
      expect(first.shim.logins()).toEqual(['a0'])
      const refused = `${first.settings.loginFile}.refused`
      expect(readFileSync(refused).includes('111111')).toBe(false)
      expect(again.detail).not.toContain('111111')
      // Corrected, it is tried, and the refusal is forgotten.
      const corrected = { ...first.settings, pin: hsm.settings().pin }
      expect(open(corrected).look(EVM).kind).toBe('secp256k1')
      expect(existsSync(refused)).toBe(false)
    })

    test('is logged in after a claim that a killed process left before the clock was set back', () => {
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

const signerOf = (number: number): Uint8Array => loadNobleSecp256k1().createSigner(testKey(number)).publicKey
