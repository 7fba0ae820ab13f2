// Web3 Secret Storage keystores, version 3, compared with its vectors and other libraries.
import { describe, expect, test } from 'bun:test'
import { createDecipheriv } from 'node:crypto'
import { scrypt as nobleScrypt } from '@noble/hashes/scrypt.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { KeystoreInvalidError, KeystoreLockedError } from '../../src/signing/errors.ts'
import { decryptKeystoreV3, encryptKeystoreV3 } from '../../src/signing/keystore-v3.ts'
import vectors from '../vectors/web3-secret-storage.json'
import { testKey } from './test-keys.ts'

const PASSPHRASE = 'correct horse battery staple — ключ'
const ADDRESS = '0x8bE4baC46fc9d5fEc816DA027BAAEAabB5AcB5eB'

const write = (workFactor: 'standard' | 'light' = 'light'): Promise<string> =>
  encryptKeystoreV3({ privateKey: testKey(1), address: ADDRESS, passphrase: PASSPHRASE, workFactor })

const base = JSON.parse(await write())
/** Returns the JSON of a valid keystore with a change. */
const changed = (change: (keystore: typeof base) => void): string => {
  const keystore = structuredClone(base)
  change(keystore)
  return JSON.stringify(keystore)
}

const failure = (text: string, passphrase = PASSPHRASE): Promise<unknown> =>
  decryptKeystoreV3(text, passphrase).catch((reason: unknown) => reason)

describe('reading', () => {
  test.each(vectors.vectors)('opens the vector $name of the standard', 30_000, async ({ keystore }) => {
    const opened = await decryptKeystoreV3(JSON.stringify(keystore), vectors.password)
    expect(opened.privateKey.toHex()).toBe(vectors.secret)
    expect(opened.address).toBeNull()
  })

  const flip = (hex: string): string => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`
  test.each([
    ['another passphrase for PBKDF2', JSON.stringify(vectors.vectors[0]!.keystore), 'Testpassword'],
    ['another passphrase for scrypt', JSON.stringify(base), `${PASSPHRASE} `],
    ['an empty passphrase', JSON.stringify(base), ''],
    ['a changed ciphertext', changed(({ crypto }) => (crypto.ciphertext = flip(crypto.ciphertext))), PASSPHRASE],
    ['a changed MAC', changed(({ crypto }) => (crypto.mac = flip(crypto.mac))), PASSPHRASE],
  ])('refuses %s', async (_name, text, passphrase) => {
    expect(await failure(text, passphrase)).toBeInstanceOf(KeystoreLockedError)
  })

  test('accepts the key Crypto of old MyEtherWallet files, upper-case hex, and an address with 0x', async () => {
    const text = changed((keystore) => {
      keystore.Crypto = keystore.crypto
      delete keystore.crypto
      keystore.Crypto.ciphertext = keystore.Crypto.ciphertext.toUpperCase()
      keystore.address = ADDRESS
    })
    const opened = await decryptKeystoreV3(text, PASSPHRASE)
    expect(opened.privateKey.toHex()).toBe(testKey(1).toHex())
    expect(opened.address).toBe(ADDRESS.toLowerCase())
  })

  test.each<[string, string, string]>([
    ['empty text', '', 'not valid JSON'],
    ['text that is not JSON', '{"version":3', 'not valid JSON'],
    ['an array', '[]', 'must be an object'],
    ['null', 'null', 'must be an object'],
    ...[
      { prf: 'hmac-sha512', error: 'prf must be hmac-sha256' },
      { c: 1_000_000_000, error: 'iterations' },
      { c: 0, error: 'c must be a positive integer' },
    ].map(({ error, ...parameters }): [string, string, string] => {
      const keystore = structuredClone(vectors.vectors[0]!.keystore)
      Object.assign(keystore.crypto.kdfparams, parameters)
      return [`PBKDF2 with ${JSON.stringify(parameters)}`, JSON.stringify(keystore), error]
    }),
    ['a huge text', `{"version":3,"x":"${'x'.repeat(20_000)}"}`, 'too long'],
    ['another version', changed((k) => (k.version = 4)), 'version must be 3'],
    ['a version as text', changed((k) => (k.version = '3')), 'version must be 3'],
    ['no crypto', changed((k) => delete k.crypto), 'Crypto must be an object'],
    ['another cipher', changed((k) => (k.crypto.cipher = 'aes-128-cbc')), 'cipher must be aes-128-ctr'],
    ['no iv', changed((k) => (k.crypto.cipherparams = {})), 'iv must be hex'],
    ['a short iv', changed((k) => (k.crypto.cipherparams.iv = 'ab')), 'iv must be hex'],
    ['a ciphertext of 31 bytes', changed((k) => (k.crypto.ciphertext = 'ab'.repeat(31))), 'ciphertext must be hex'],
    [
      'a ciphertext with other letters',
      changed((k) => (k.crypto.ciphertext = 'zz'.repeat(32))),
      'ciphertext must be hex',
    ],
    ['a MAC as a number', changed((k) => (k.crypto.mac = 5)), 'mac must be hex'],
    ['a short MAC', changed((k) => (k.crypto.mac = k.crypto.mac.slice(0, 62))), 'mac must be hex'],
    ['a MAC that is too long', changed((k) => (k.crypto.mac += '00')), 'mac must be hex'],
    ['an unknown derivation', changed((k) => (k.crypto.kdf = 'argon2id')), 'kdf must be pbkdf2'],
    ['no salt', changed((k) => delete k.crypto.kdfparams.salt), 'salt must be hex'],
    ['a dklen of 31', changed((k) => (k.crypto.kdfparams.dklen = 31)), 'dklen must be 32 to 64'],
    ['a dklen of 2^40', changed((k) => (k.crypto.kdfparams.dklen = 2 ** 40)), 'dklen must be 32 to 64'],
    ['n as text', changed((k) => (k.crypto.kdfparams.n = '4096')), 'n must be a positive integer'],
    ['n of 0', changed((k) => (k.crypto.kdfparams.n = 0)), 'n must be a positive integer'],
    ['n of 1', changed((k) => (k.crypto.kdfparams.n = 1)), 'invalid scrypt parameters'],
    ['n that is not a power of two', changed((k) => (k.crypto.kdfparams.n = 5000)), 'invalid scrypt parameters'],
    ['a fractional r', changed((k) => (k.crypto.kdfparams.r = 1.5)), 'r must be a positive integer'],
    ['n for 16 GiB', changed((k) => (k.crypto.kdfparams.n = 2 ** 24)), 'the memory or work limit'],
    // The lowest values above the limits of memory and of work.
    ...[
      { n: 2 ** 19, r: 8, p: 1 },
      { n: 2 ** 18, r: 16, p: 1 },
      { n: 2 ** 12, r: 8, p: 513 },
    ].map((factors): [string, string, string] => [
      `the scrypt parameters ${JSON.stringify(factors)}`,
      changed((k) => Object.assign(k.crypto.kdfparams, factors)),
      'the memory or work limit',
    ]),
    ['a short address', changed((k) => (k.address = '0x12')), 'address must be an address'],
    ['an address as a number', changed((k) => (k.address = 12)), 'address must be an address'],
  ])('refuses %s', async (_name, text, words) => {
    const error = await failure(text)
    expect(error).toBeInstanceOf(KeystoreInvalidError)
    expect((error as KeystoreInvalidError).detail).toContain(words)
  })

  test('derives the key without blocking the thread', async () => {
    const order: string[] = []
    const opening = decryptKeystoreV3(JSON.stringify(base), PASSPHRASE).then(() => order.push('opened'))
    await new Promise((resolve) => setImmediate(resolve))
    order.push('other work')
    await opening
    expect(order).toEqual(['other work', 'opened'])
  })
})

describe('writing', () => {
  test('creates a keystore that can be opened, with the address in the standard format', async () => {
    const opened = await decryptKeystoreV3(JSON.stringify(base), PASSPHRASE)
    expect(opened.privateKey.toHex()).toBe(testKey(1).toHex())
    expect(opened.address).toBe(ADDRESS.toLowerCase())
    expect(base).toMatchObject({ address: ADDRESS.slice(2).toLowerCase(), version: 3 })
    expect(base.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/)
  })

  test('creates a keystore that other libraries can open', () => {
    const { crypto } = base
    const { n: N, r, p, dklen: dkLen, salt } = crypto.kdfparams
    const derived = nobleScrypt(new TextEncoder().encode(PASSPHRASE), Buffer.from(salt, 'hex'), { N, r, p, dkLen })
    const ciphertext = Buffer.from(crypto.ciphertext, 'hex')
    expect(keccak_256(Buffer.concat([derived.subarray(16, 32), ciphertext])).toHex()).toBe(crypto.mac)
    const iv = Buffer.from(crypto.cipherparams.iv, 'hex')
    const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
    expect(Buffer.concat([decipher.update(ciphertext), decipher.final()]).toHex()).toBe(testKey(1).toHex())
  })

  test('uses the parameters of the work factor', async () => {
    expect(base.crypto.kdfparams).toMatchObject({ n: 4_096, r: 8, p: 6, dklen: 32 })
    const standard = await write('standard')
    expect(JSON.parse(standard).crypto.kdfparams).toMatchObject({ n: 262_144, r: 8, p: 1, dklen: 32 })
    expect((await decryptKeystoreV3(standard, PASSPHRASE)).privateKey.toHex()).toBe(testKey(1).toHex())
  }, 30_000)

  test('uses a new salt, initialization vector and id', async () => {
    const other = JSON.parse(await write())
    expect(other.crypto.kdfparams.salt).not.toBe(base.crypto.kdfparams.salt)
    expect(other.crypto.cipherparams.iv).not.toBe(base.crypto.cipherparams.iv)
    expect(other.id).not.toBe(base.id)
  })

  test('does not contain the key or the passphrase', () => {
    expect(JSON.stringify(base)).not.toContain(testKey(1).toHex())
    expect(JSON.stringify(base)).not.toContain(PASSPHRASE)
  })
})
