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

describe('a generated key', () => {
  test.each(['secp256k1', 'ed25519'] as const)(
    'of %s is a keystore that opens to it, for its owner only',
    async (kind) => {
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
    },
  )

  test('is another one each time', async () => {
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

describe('an imported key', () => {
  test.each([secret.toHex(), `0x${secret.toHex()}`, ` ${secret.toHex().toUpperCase()}\n`])(
    'from hex text',
    async (text) => {
      const made = await importFrom({ format: 'hex', kind: 'secp256k1', text })
      expect(made.address as string).toBe(evmAddress)
      const opened = await decryptKeystoreV3(readFileSync(made.path, 'utf8'), PASSPHRASE)
      expect(opened.privateKey.toHex()).toBe(secret.toHex())
    },
  )

  test('from a hex Ed25519 seed', async () => {
    const made = await importFrom({ format: 'hex', kind: 'ed25519', text: secret.toHex() })
    expect(made.address).toBe(bs58.encode(solanaPublicKey))
  })

  test('from a v3 keystore, encrypted again with the passphrase of the deployment', async () => {
    const options = { privateKey: secret, address: evmAddress, passphrase: 'its own', workFactor: 'light' } as const
    const text = await encryptKeystoreV3(options)
    const made = await importFrom({ format: 'keystore-v3', text, passphrase: 'its own' })
    expect(made.address as string).toBe(evmAddress)
    const stored = readFileSync(made.path, 'utf8')
    expect((await decryptKeystoreV3(stored, PASSPHRASE)).privateKey.toHex()).toBe(secret.toHex())
    await expect(decryptKeystoreV3(stored, 'its own')).rejects.toBeInstanceOf(KeystoreLockedError)
  })

  test('from a Solana CLI keypair', async () => {
    const made = await importFrom({ format: 'solana-keypair', text: keypair })
    expect(made.address).toBe(bs58.encode(solanaPublicKey))
    const seed = await decryptKeystorePkcs8(readFileSync(made.path, 'utf8'), PASSPHRASE)
    expect(seed.toHex()).toBe(secret.toHex())
  })

  test('is never overwritten', async () => {
    const first = await importFrom({ format: 'hex', kind: 'secp256k1', text: secret.toHex() })
    const before = readFileSync(first.path, 'utf8')
    const again = importFrom({ format: 'hex', kind: 'secp256k1', text: `0x${secret.toHex()}` })
    await expect(again).rejects.toBeInstanceOf(KeystoreExistsError)
    expect(readFileSync(first.path, 'utf8')).toBe(before)
    expect(readdirSync(directory)).toHaveLength(1)
  })
})

describe('a text is refused, repeated nowhere, and leaves no file', () => {
  const almost = secret.toHex().slice(0, 63)
  const otherHalf = JSON.stringify([...secret, ...createEd25519Signer(testKey(2)).publicKey])
  test.each<[string, PrivateKeySource]>([
    ['63 hex digits', { format: 'hex', kind: 'secp256k1', text: almost }],
    ['65 hex digits', { format: 'hex', kind: 'secp256k1', text: `${almost}00` }],
    ['other letters', { format: 'hex', kind: 'secp256k1', text: `${almost}g` }],
    ['0x twice', { format: 'hex', kind: 'secp256k1', text: `0x0x${secret.toHex()}` }],
    ['empty text', { format: 'hex', kind: 'ed25519', text: '' }],
    ['the zero key', { format: 'hex', kind: 'secp256k1', text: '0'.repeat(64) }],
    ['a key over the order', { format: 'hex', kind: 'secp256k1', text: 'f'.repeat(64) }],
    ['a keypair cut short', { format: 'solana-keypair', text: JSON.stringify([...secret]) }],
    ['a keypair with a number over 255', { format: 'solana-keypair', text: keypair.replace(/^\[\d+/, '[256') }],
    ['a keypair with a fraction', { format: 'solana-keypair', text: keypair.replace(/^\[\d+/, '[1.5') }],
    ['a keypair with text', { format: 'solana-keypair', text: keypair.replace(/^\[\d+/, '["1"') }],
    ['a keypair that is not JSON', { format: 'solana-keypair', text: keypair.slice(0, -1) }],
    ['a keypair that is an object', { format: 'solana-keypair', text: '{}' }],
    ["a keypair with another key's public half", { format: 'solana-keypair', text: otherHalf }],
  ])('%s', async (_, source) => {
    const error = await importFrom(source).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(PrivateKeyInvalidError)
    const printed = `${Bun.inspect(error)} ${(error as PrivateKeyInvalidError).detail}`
    expect(printed).not.toContain(secret.toHex().slice(0, 16))
    expect(printed).not.toContain([...secret.subarray(0, 6)].join(','))
    expect(filesLeft()).toEqual([])
  })

  test("a keystore with another key's address", async () => {
    const options = {
      privateKey: secret,
      address: `0x${'11'.repeat(20)}`,
      passphrase: 'p',
      workFactor: 'light',
    } as const
    const importing = importFrom({ format: 'keystore-v3', text: await encryptKeystoreV3(options), passphrase: 'p' })
    await expect(importing).rejects.toBeInstanceOf(PrivateKeyInvalidError)
    expect(filesLeft()).toEqual([])
  })

  test('a keystore that holds no valid key', async () => {
    const zero = { privateKey: new Uint8Array(32), address: evmAddress, passphrase: 'p', workFactor: 'light' } as const
    const importing = importFrom({ format: 'keystore-v3', text: await encryptKeystoreV3(zero), passphrase: 'p' })
    await expect(importing).rejects.toBeInstanceOf(PrivateKeyInvalidError)
  })

  test('a keystore with a wrong passphrase', async () => {
    const options = { privateKey: secret, address: evmAddress, passphrase: 'p', workFactor: 'light' } as const
    const importing = importFrom({ format: 'keystore-v3', text: await encryptKeystoreV3(options), passphrase: 'q' })
    await expect(importing).rejects.toBeInstanceOf(KeystoreLockedError)
    expect(filesLeft()).toEqual([])
  })
})

test('the format of a text is told by how it looks', () => {
  expect(detectPrivateKeyFormat(keypair)).toBe('solana-keypair')
  expect(detectPrivateKeyFormat(' {"version":3}\n')).toBe('keystore-v3')
  expect(detectPrivateKeyFormat(secret.toHex())).toBe('hex')
  expect(detectPrivateKeyFormat(`0x${secret.toHex()}`)).toBe('hex')
  for (const text of ['', '  ', 'hello', '0xzz']) expect(detectPrivateKeyFormat(text)).toBeNull()
})

test.each(['secp256k1', 'ed25519'] as const)('a keystore of %s is locked anew once', async (kind) => {
  const { path } = await createAttesterKeystore({ ...destination(), kind })
  const next = { passphrase: 'the next passphrase', workFactor: 'light' } as const
  expect(await relockKeystore(path, PASSPHRASE, next)).toBe(true)
  expect(await relockKeystore(path, PASSPHRASE, next)).toBe(false)
  await expect(relockKeystore(path, 'x', { ...next, passphrase: PASSPHRASE })).rejects.toBeInstanceOf(
    KeystoreLockedError,
  )
})

describe('a keystore with a damaged part that its MAC does not cover', () => {
  // Each of these opens, to another key.
  const damage = {
    secp256k1: (text: string) => text.replace(/"iv": "(.)/, (_, digit) => `"iv": "${digit === '0' ? '1' : '0'}`),
    ed25519: (text: string) => {
      const [begin = '', ...lines] = text.split('\n').slice(1)
      const der = Buffer.from(lines.slice(0, -2).join(''), 'base64')
      // In the second of four blocks: the third has the flipped bit, and only the first is compared.
      der[der.length - 33]! ^= 1
      return [begin, der.toString('base64'), lines.at(-2), ''].join('\n')
    },
  } as const

  test.each(['secp256k1', 'ed25519'] as const)('of %s is not locked anew', async (kind) => {
    const { path } = await createAttesterKeystore({ ...destination(), kind })
    const next = { passphrase: 'the next passphrase', workFactor: 'light' } as const
    const damaged = damage[kind](readFileSync(path, 'utf8'))
    writeFileSync(path, damaged)
    await expect(relockKeystore(path, PASSPHRASE, next)).rejects.toBeInstanceOf(AttesterMismatchError)
    expect(readFileSync(path, 'utf8')).toBe(damaged)
  })
})
