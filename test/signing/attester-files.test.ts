// Keystore files of attesters: generation, import and passphrase changes.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import bs58 from 'bs58'
import { privateKeyToAddress } from 'viem/accounts'
import { createAttesterKeystore, importAttesterKey, relockKeystore } from '../../src/signing/attester-files.ts'
import { createEd25519Signer } from '../../src/signing/ed25519.ts'
import {
  AttesterMismatchError,
  KeystoreExistsError,
  KeystoreInvalidError,
  KeystoreLockedError,
  PrivateKeyInvalidError,
} from '../../src/signing/errors.ts'
import { decryptKeystorePkcs8 } from '../../src/signing/keystore-pkcs8.ts'
import { decryptKeystoreV3, encryptKeystoreV3 } from '../../src/signing/keystore-v3.ts'
import { detectPrivateKeyFormat, type PrivateKeySource } from '../../src/signing/private-key-text.ts'
import { testKey } from './test-keys.ts'

const PASSPHRASE = 'a deployment passphrase'
const secret = testKey(1)
const evmAddress = privateKeyToAddress(`0x${secret.toHex()}`)
const solanaPublicKey = createEd25519Signer(secret).publicKey
const keypair = JSON.stringify([...secret, ...solanaPublicKey])

let root: string
let directory: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'countersign-attesters-'))
  directory = join(root, 'data', 'attesters')
})
afterEach(() => rmSync(root, { recursive: true }))

const destination = () => ({ directory, passphrase: PASSPHRASE, workFactor: 'light' }) as const
const importFrom = (source: PrivateKeySource) => importAttesterKey({ ...destination(), source })
const modeOf = (path: string): number => statSync(path).mode & 0o777
const filesLeft = (): string[] => readdirSync(root, { recursive: true }).map(String)

const KINDS = ['secp256k1', 'ed25519'] as const

describe('a generated key', () => {
  test.each(KINDS)('of %s is in a keystore that only its owner can read', async (kind) => {
    const made = await createAttesterKeystore({ ...destination(), kind })
    expect(made.kind).toBe(kind)
    expect(isAbsolute(made.path)).toBe(true)
    expect(modeOf(made.path)).toBe(0o600)
    expect(modeOf(directory)).toBe(0o700)
    expect(readdirSync(directory)).toHaveLength(1)
    const text = readFileSync(made.path, 'utf8')
    if (kind === 'secp256k1') {
      const { privateKey, address } = await decryptKeystoreV3(text, PASSPHRASE)
      expect(privateKeyToAddress(`0x${privateKey.toHex()}`) as string).toBe(made.address)
      expect(address).toBe(made.address.toLowerCase())
    } else {
      const seed = await decryptKeystorePkcs8(text, PASSPHRASE)
      expect(bs58.encode(createEd25519Signer(seed).publicKey)).toBe(made.address)
    }
  })

  test('is unique', async () => {
    const first = await createAttesterKeystore({ ...destination(), kind: 'secp256k1' })
    const second = await createAttesterKeystore({ ...destination(), kind: 'secp256k1' })
    expect(second.address).not.toBe(first.address)
  })

  test('is not written without a passphrase', async () => {
    const creating = createAttesterKeystore({ ...destination(), passphrase: '', kind: 'ed25519' })
    await expect(creating).rejects.toBeInstanceOf(KeystoreInvalidError)
    expect(filesLeft()).toEqual([])
  })
})

/** A v3 keystore with the passphrase `p`. */
const keystoreV3 = (change: { readonly privateKey?: Uint8Array; readonly address?: string } = {}): Promise<string> =>
  encryptKeystoreV3({ privateKey: secret, address: evmAddress, passphrase: 'p', workFactor: 'light', ...change })
const v3 = await keystoreV3()
const v3OfOtherAddress = await keystoreV3({ address: `0x${'11'.repeat(20)}` })
const v3OfInvalidKey = await keystoreV3({ privateKey: new Uint8Array(32) })

describe('an imported key', () => {
  test.each<[string, PrivateKeySource]>([
    ['hex text', { format: 'hex', kind: 'secp256k1', text: secret.toHex() }],
    ['hex text with 0x', { format: 'hex', kind: 'secp256k1', text: `0x${secret.toHex()}` }],
    ['hex text in upper case', { format: 'hex', kind: 'secp256k1', text: ` ${secret.toHex().toUpperCase()}\n` }],
    ['a v3 keystore', { format: 'keystore-v3', text: v3, passphrase: 'p' }],
    ['a hex Ed25519 seed', { format: 'hex', kind: 'ed25519', text: secret.toHex() }],
    ['a Solana CLI keypair', { format: 'solana-keypair', text: keypair }],
  ])('from %s is encrypted with the passphrase of the deployment', async (_name, source) => {
    const made = await importFrom(source)
    const stored = readFileSync(made.path, 'utf8')
    const isEvm = made.kind === 'secp256k1'
    expect(made.address as string).toBe(isEvm ? evmAddress : bs58.encode(solanaPublicKey))
    const opened = isEvm
      ? (await decryptKeystoreV3(stored, PASSPHRASE)).privateKey
      : await decryptKeystorePkcs8(stored, PASSPHRASE)
    expect(opened.toHex()).toBe(secret.toHex())
    if (isEvm) await expect(decryptKeystoreV3(stored, 'p')).rejects.toBeInstanceOf(KeystoreLockedError)
  })

  test('is not overwritten', async () => {
    const first = await importFrom({ format: 'hex', kind: 'secp256k1', text: secret.toHex() })
    const before = readFileSync(first.path, 'utf8')
    const again = importFrom({ format: 'hex', kind: 'secp256k1', text: `0x${secret.toHex()}` })
    await expect(again).rejects.toBeInstanceOf(KeystoreExistsError)
    expect(readFileSync(first.path, 'utf8')).toBe(before)
    expect(readdirSync(directory)).toHaveLength(1)
  })
})

describe('an import fails, creates no file, and keeps the key out of the error, for', () => {
  const almost = secret.toHex().slice(0, 63)
  const otherHalf = JSON.stringify([...secret, ...createEd25519Signer(testKey(2)).publicKey])
  test.each<[string, PrivateKeySource]>([
    ['63 hex digits', { format: 'hex', kind: 'secp256k1', text: almost }],
    ['65 hex digits', { format: 'hex', kind: 'secp256k1', text: `${almost}00` }],
    ['other letters', { format: 'hex', kind: 'secp256k1', text: `${almost}g` }],
    ['two prefixes 0x', { format: 'hex', kind: 'secp256k1', text: `0x0x${secret.toHex()}` }],
    ['empty text', { format: 'hex', kind: 'ed25519', text: '' }],
    ['the zero key', { format: 'hex', kind: 'secp256k1', text: '0'.repeat(64) }],
    ['a key above the curve order', { format: 'hex', kind: 'secp256k1', text: 'f'.repeat(64) }],
    ['a truncated keypair', { format: 'solana-keypair', text: JSON.stringify([...secret]) }],
    ['a keypair with a number over 255', { format: 'solana-keypair', text: keypair.replace(/^\[\d+/, '[256') }],
    ['a keypair with a fraction', { format: 'solana-keypair', text: keypair.replace(/^\[\d+/, '[1.5') }],
    ['a keypair with text', { format: 'solana-keypair', text: keypair.replace(/^\[\d+/, '["1"') }],
    ['a keypair that is not JSON', { format: 'solana-keypair', text: keypair.slice(0, -1) }],
    ['a keypair that is an object', { format: 'solana-keypair', text: '{}' }],
    ["a keypair with another key's public half", { format: 'solana-keypair', text: otherHalf }],
    ["a keystore with another key's address", { format: 'keystore-v3', text: v3OfOtherAddress, passphrase: 'p' }],
    ['a keystore with an invalid key', { format: 'keystore-v3', text: v3OfInvalidKey, passphrase: 'p' }],
    ['a keystore with a wrong passphrase', { format: 'keystore-v3', text: v3, passphrase: 'q' }],
  ])('%s', async (name, source) => {
    const error = await importFrom(source).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(name.endsWith('wrong passphrase') ? KeystoreLockedError : PrivateKeyInvalidError)
    const printed = `${Bun.inspect(error)} ${(error as PrivateKeyInvalidError).detail}`
    expect(printed).not.toContain(secret.toHex().slice(0, 16))
    expect(printed).not.toContain([...secret.subarray(0, 6)].join(','))
    expect(filesLeft()).toEqual([])
  })
})

test('the format of a private key is detected from its text', () => {
  expect(detectPrivateKeyFormat(keypair)).toBe('solana-keypair')
  expect(detectPrivateKeyFormat(' {"version":3}\n')).toBe('keystore-v3')
  expect(detectPrivateKeyFormat(secret.toHex())).toBe('hex')
  expect(detectPrivateKeyFormat(`0x${secret.toHex()}`)).toBe('hex')
  for (const text of ['', '  ', 'hello', '0xzz']) expect(detectPrivateKeyFormat(text)).toBeNull()
})

describe('a passphrase change', () => {
  const next = { passphrase: 'the next passphrase', workFactor: 'light' } as const
  // Damages a part that the MAC does not cover, so that the keystore opens to another key.
  const damage = {
    secp256k1: (text: string) => text.replace(/"iv": "(.)/, (_, digit) => `"iv": "${digit === '0' ? '1' : '0'}`),
    ed25519: (text: string) => {
      const [begin = '', ...lines] = text.split('\n').slice(1)
      const der = Buffer.from(lines.slice(0, -2).join(''), 'base64')
      // In the second of four blocks, so that the third has the flipped bit; only the first is compared.
      der[der.length - 33]! ^= 1
      return [begin, der.toString('base64'), lines.at(-2), ''].join('\n')
    },
  } as const

  test.each(KINDS)('of a %s keystore happens once, and requires the current passphrase', async (kind) => {
    const { path } = await createAttesterKeystore({ ...destination(), kind })
    expect(await relockKeystore(path, PASSPHRASE, next)).toBe(true)
    expect(await relockKeystore(path, PASSPHRASE, next)).toBe(false)
    const relocking = relockKeystore(path, 'x', { ...next, passphrase: PASSPHRASE })
    await expect(relocking).rejects.toBeInstanceOf(KeystoreLockedError)
  })

  test.each(KINDS)('of a damaged %s keystore fails', async (kind) => {
    const { path } = await createAttesterKeystore({ ...destination(), kind })
    const damaged = damage[kind](readFileSync(path, 'utf8'))
    writeFileSync(path, damaged)
    await expect(relockKeystore(path, PASSPHRASE, next)).rejects.toBeInstanceOf(AttesterMismatchError)
    expect(readFileSync(path, 'utf8')).toBe(damaged)
  })
})
