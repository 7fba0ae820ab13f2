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

/** A real keystore's JSON with something changed. */
const base = JSON.parse(await write())
const changed = (change: (keystore: typeof base) => void): string => {
  const keystore = structuredClone(base)
  change(keystore)
  return JSON.stringify(keystore)
}

describe('reading', () => {
  test.each(vectors.vectors)("opens the standard's $name vector", 30_000, async ({ keystore }) => {
    const opened = await decryptKeystoreV3(JSON.stringify(keystore), vectors.password)
    expect(opened.privateKey.toHex()).toBe(vectors.secret)
    expect(opened.address).toBeNull()
  })

  test('is locked to another passphrase, with both derivations', async () => {
    const pbkdf2 = JSON.stringify(vectors.vectors[0]!.keystore)
    await expect(decryptKeystoreV3(pbkdf2, 'Testpassword')).rejects.toBeInstanceOf(KeystoreLockedError)
    await expect(decryptKeystoreV3(JSON.stringify(base), `${PASSPHRASE} `)).rejects.toBeInstanceOf(KeystoreLockedError)
    await expect(decryptKeystoreV3(JSON.stringify(base), '')).rejects.toBeInstanceOf(KeystoreLockedError)
  })

  test('is locked when the ciphertext or the MAC was altered', async () => {
    const flip = (hex: string): string => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`
    for (const field of ['ciphertext', 'mac']) {
      const text = changed((keystore) => {
        keystore.crypto[field] = flip(keystore.crypto[field])
      })
      await expect(decryptKeystoreV3(text, PASSPHRASE)).rejects.toBeInstanceOf(KeystoreLockedError)
    }
  })

  test('takes the capital C of older MyEtherWallet files, upper-case hex, and an address with 0x', async () => {
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
    ['n that is no power of two', changed((k) => (k.crypto.kdfparams.n = 5000)), 'invalid scrypt parameters'],
    ['a fractional r', changed((k) => (k.crypto.kdfparams.r = 1.5)), 'r must be a positive integer'],
    ['n for 16 GiB', changed((k) => (k.crypto.kdfparams.n = 2 ** 24)), 'the memory or work limit'],
    // The least that is over a limit: a quarter of the work that is allowed twice, then little memory.
    ...[
      { n: 2 ** 19, r: 8, p: 1 },
      { n: 2 ** 18, r: 16, p: 1 },
      { n: 2 ** 12, r: 8, p: 513 },
    ].map((factors): [string, string, string] => [
      `the scrypt parameters ${JSON.stringify(factors)}`,
      changed((k) => Object.assign(k.crypto.kdfparams, factors)),
      'the memory or work limit',
    ]),
    ['an address that is none', changed((k) => (k.address = '0x12')), 'address must be an address'],
    ['an address as a number', changed((k) => (k.address = 12)), 'address must be an address'],
  ])('refuses %s', async (_, text, words) => {
    const error = await decryptKeystoreV3(text, PASSPHRASE).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(KeystoreInvalidError)
    expect((error as KeystoreInvalidError).detail).toContain(words)
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['another function', { prf: 'hmac-sha512' }, 'prf must be hmac-sha256'],
    ['a billion iterations', { c: 1_000_000_000 }, 'iterations'],
    ['no iterations', { c: 0 }, 'c must be a positive integer'],
  ])('refuses PBKDF2 with %s', async (_, parameters, words) => {
    const keystore = structuredClone(vectors.vectors[0]!.keystore)
    Object.assign(keystore.crypto.kdfparams, parameters)
    const error = await decryptKeystoreV3(JSON.stringify(keystore), vectors.password).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(KeystoreInvalidError)
    expect((error as KeystoreInvalidError).detail).toContain(words)
  })

  test('leaves the thread free while the key is derived', async () => {
    const order: string[] = []
    const opening = decryptKeystoreV3(JSON.stringify(base), PASSPHRASE).then(() => order.push('opened'))
    await new Promise((resolve) => setImmediate(resolve))
    order.push('other work')
    await opening
    expect(order).toEqual(['other work', 'opened'])
  })
})

describe('writing', () => {
  test('round-trips, with the address as the standard spells it', async () => {
    const opened = await decryptKeystoreV3(JSON.stringify(base), PASSPHRASE)
    expect(opened.privateKey.toHex()).toBe(testKey(1).toHex())
    expect(opened.address).toBe(ADDRESS.toLowerCase())
    expect(base.address).toBe(ADDRESS.slice(2).toLowerCase())
    expect(base.version).toBe(3)
    expect(base.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/)
  })

  test('can be opened by the standard alone, with other libraries', () => {
    const { crypto } = base
    const { n, r, p, dklen, salt } = crypto.kdfparams
    const derived = nobleScrypt(new TextEncoder().encode(PASSPHRASE), Buffer.from(salt, 'hex'), {
      N: n,
      r,
      p,
      dkLen: dklen,
    })
    const ciphertext = Buffer.from(crypto.ciphertext, 'hex')
    expect(keccak_256(Buffer.concat([derived.subarray(16, 32), ciphertext])).toHex()).toBe(crypto.mac)
    const decipher = createDecipheriv(
      'aes-128-ctr',
      derived.subarray(0, 16),
      Buffer.from(crypto.cipherparams.iv, 'hex'),
    )
    expect(Buffer.concat([decipher.update(ciphertext), decipher.final()]).toHex()).toBe(testKey(1).toHex())
  })

  test('works as hard as the factor says', async () => {
    expect(base.crypto.kdfparams).toMatchObject({ n: 4_096, r: 8, p: 6, dklen: 32 })
    const standard = await write('standard')
    expect(JSON.parse(standard).crypto.kdfparams).toMatchObject({ n: 262_144, r: 8, p: 1, dklen: 32 })
    expect((await decryptKeystoreV3(standard, PASSPHRASE)).privateKey.toHex()).toBe(testKey(1).toHex())
  }, 30_000)

  test('never uses a salt, an iv or an id twice', async () => {
    const other = JSON.parse(await write())
    expect(other.crypto.kdfparams.salt).not.toBe(base.crypto.kdfparams.salt)
    expect(other.crypto.cipherparams.iv).not.toBe(base.crypto.cipherparams.iv)
    expect(other.id).not.toBe(base.id)
  })

  test('holds the key and the passphrase nowhere', () => {
    expect(JSON.stringify(base)).not.toContain(testKey(1).toHex())
    expect(JSON.stringify(base)).not.toContain(PASSPHRASE)
  })
})
