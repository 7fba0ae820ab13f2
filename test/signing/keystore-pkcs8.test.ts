// Encrypted PKCS #8 keystores of Ed25519 keys (RFC 5208, RFC 8018), compared with Node and OpenSSL.
import { describe, expect, test } from 'bun:test'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import {
  DER_NULL,
  DER_OBJECT_IDENTIFIER,
  DER_OCTET_STRING,
  DER_SEQUENCE,
  encodeDer,
  encodeDerInteger,
} from '../../src/signing/der.ts'
import { createEd25519Signer, ED25519_PKCS8_HEADER } from '../../src/signing/ed25519.ts'
import { KeystoreInvalidError, KeystoreLockedError } from '../../src/signing/errors.ts'
import { decryptKeystorePkcs8, encryptKeystorePkcs8, hasKeystoreMac } from '../../src/signing/keystore-pkcs8.ts'
import { testKey } from './test-keys.ts'

const PASSPHRASE = 'correct horse battery staple'
const seed = testKey(1)
const pem = await encryptKeystorePkcs8({ seed, passphrase: PASSPHRASE, workFactor: 'light' })

const bodyOf = (text: string): Uint8Array => Uint8Array.fromBase64(text.split('\n').slice(2, -2).join(''))
/** The format of earlier versions. */
const withoutMac = (text: string): string => text.slice(text.indexOf('-----BEGIN'))
const pemOf = (bytes: Uint8Array): string =>
  `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${bytes.toBase64()}\n-----END ENCRYPTED PRIVATE KEY-----\n`
const replaced = (from: string, to: string): string => {
  const hex = bodyOf(pem).toHex()
  expect(hex).toContain(from)
  return pemOf(Uint8Array.fromHex(hex.replace(from, to)))
}
const plainKey = createPrivateKey({ key: Buffer.concat([ED25519_PKCS8_HEADER, seed]), format: 'der', type: 'pkcs8' })

const openssl = Bun.which('openssl')
const runOpenssl = (parameters: readonly string[], input: string): string => {
  const result = Bun.spawnSync([openssl!, ...parameters], {
    stdin: Buffer.from(input),
    env: { ...process.env, KEYSTORE_PASSPHRASE: PASSPHRASE },
  })
  if (result.exitCode !== 0) throw new Error(result.stderr.toString())
  return result.stdout.toString()
}

/** Decrypts with the passphrase, and compares the seed. */
const expectSeed = async (text: string): Promise<void> =>
  expect((await decryptKeystorePkcs8(text, PASSPHRASE)).toHex()).toBe(seed.toHex())
const failure = (text: string, passphrase = PASSPHRASE): Promise<unknown> =>
  decryptKeystorePkcs8(text, passphrase).catch((reason: unknown) => reason)
const expectInvalid = async (text: string, words: string): Promise<void> => {
  const error = await failure(text)
  expect(error).toBeInstanceOf(KeystoreInvalidError)
  expect((error as KeystoreInvalidError).detail).toContain(words)
}
const nodeOptions = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: PASSPHRASE } as const
const nodePem = String(plainKey.export(nodeOptions))

describe('a written keystore', () => {
  test('is PEM with lines of at most 64 characters, without the seed', () => {
    const lines = pem.split('\n')
    expect(lines.shift()).toMatch(/^Countersign-MAC: [0-9a-f]{64}$/)
    expect(lines[0]).toBe('-----BEGIN ENCRYPTED PRIVATE KEY-----')
    expect(lines.at(-2)).toBe('-----END ENCRYPTED PRIVATE KEY-----')
    expect(lines.slice(1, -2).every((line) => line.length <= 64)).toBe(true)
    expect(bodyOf(pem).toHex()).not.toContain(seed.toHex())
  })

  test('can be read by node:crypto', () => {
    const key = createPrivateKey({ key: pem, passphrase: PASSPHRASE })
    expect(key.asymmetricKeyType).toBe('ed25519')
    expect(key.export({ format: 'jwk' }).d).toBe(seed.toBase64({ alphabet: 'base64url', omitPadding: true }))
  })

  test.skipIf(openssl === null)('can be read by OpenSSL (skipped without the command)', () => {
    const text = runOpenssl(['pkey', '-passin', 'env:KEYSTORE_PASSPHRASE', '-text', '-noout'], pem)
    expect(text.replace(/[\s:]/g, '')).toContain(createEd25519Signer(seed).publicKey.toHex())
  })

  test('has 600,000 iterations at the standard work factor, and 10,000 at the light work factor', async () => {
    expect(bodyOf(pem).toHex()).toContain('02022710')
    const standard = await encryptKeystorePkcs8({ seed, passphrase: PASSPHRASE, workFactor: 'standard' })
    expect(bodyOf(standard).toHex()).toContain('02030927c0')
    await expectSeed(standard)
  })

  test('has a new salt and initialization vector', async () => {
    const again = await encryptKeystorePkcs8({ seed, passphrase: PASSPHRASE, workFactor: 'light' })
    expect(again).not.toBe(pem)
  })
})

describe('reading', () => {
  test.each([
    ['of this version', pem],
    ['with Windows line ends', pem.replaceAll('\n', '\r\n')],
    ['of earlier versions, without a MAC', withoutMac(pem)],
    ['of node:crypto', nodePem],
  ])('opens a keystore %s', async (_name, text) => {
    await expectSeed(text)
    expect(hasKeystoreMac(text)).toBe(text.startsWith('Countersign-MAC'))
  })

  test.skipIf(openssl === null)('opens a keystore of OpenSSL (skipped without the command)', async () => {
    const plain = String(plainKey.export({ type: 'pkcs8', format: 'pem' }))
    const parameters = ['pkcs8', '-topk8', '-v2', 'aes-256-cbc', '-v2prf', 'hmacWithSHA256', '-iter', '5000']
    await expectSeed(runOpenssl([...parameters, '-passout', 'env:KEYSTORE_PASSPHRASE'], plain))
  })

  test('refuses every changed bit of the parameters and of the key, because of the MAC', async () => {
    const der = bodyOf(pem)
    const [macLine = ''] = pem.split('\n')
    // In the salt, the initialization vector and the key, where the DER remains valid, and would decrypt to another key without
    // the MAC.
    let unnoticedWithout = 0
    for (let at = der.length - 64; at < der.length; at++) {
      const altered = Uint8Array.from(der)
      altered[at] = (altered[at] ?? 0) ^ 1
      expect(await failure(`${macLine}\n${pemOf(altered)}`)).toBeInstanceOf(KeystoreLockedError)
      const bare = await decryptKeystorePkcs8(pemOf(altered), PASSPHRASE).catch(() => null)
      if (bare !== null) unnoticedWithout += 1
    }
    expect(unnoticedWithout).toBeGreaterThan(0)
    const otherMac = pem.replace(/[0-9a-f]{64}/, '0'.repeat(64))
    expect(await failure(otherMac)).toBeInstanceOf(KeystoreLockedError)
  })

  // The padding detects most wrong passphrases. About 1 in 256 decrypts to noise, so 600 attempts include that case.
  test('refuses every wrong passphrase', async () => {
    for (let i = 0; i < 600; i++) expect(await failure(nodePem, `wrong ${i}`)).toBeInstanceOf(KeystoreLockedError)
    expect(await failure(pem, '')).toBeInstanceOf(KeystoreLockedError)
  })

  test.each<[string, () => string, string]>([
    ['empty text', () => '', 'one PEM block'],
    ['an unencrypted key', () => String(plainKey.export({ type: 'pkcs8', format: 'pem' })), 'one PEM block'],
    ['two blocks', () => `${pem}${pem}`, 'base64'],
    ['bad base64', () => withoutMac(pem).replace(/\n./, '\n!'), 'base64'],
    ['a huge text', () => pem + ' '.repeat(5_000), 'too long'],
    ['no DER', () => pemOf(new Uint8Array(20)), 'DER'],
    ['a cut end', () => pemOf(bodyOf(pem).subarray(0, -1)), 'DER'],
    ['bytes after the end', () => pemOf(Buffer.concat([bodyOf(pem), new Uint8Array(1)])), 'DER'],
    ['PBES1', () => replaced('2a864886f70d01050d', '2a864886f70d01050a'), 'PBES2'],
    ['scrypt', () => replaced('2a864886f70d01050c', '2b06010401da470401'), 'PBKDF2'],
    ['HMAC-SHA-512', () => replaced('2a864886f70d0209', '2a864886f70d020b'), 'HMAC-SHA-256'],
    ['AES-128-CBC', () => replaced('60864801650304012a', '608648016503040102'), 'AES-256-CBC'],
    ['zero iterations', () => replaced('02022710', '02020000'), 'DER'],
    ['negative iterations', () => replaced('02022710', '0202ff10'), 'DER'],
  ])('refuses %s', (_, text, words) => expectInvalid(text(), words))

  test('refuses more iterations than the limit before the derivation', async () => {
    const identifier = (hex: string): Uint8Array => encodeDer(DER_OBJECT_IDENTIFIER, Uint8Array.fromHex(hex))
    const octets = (length: number): Uint8Array => encodeDer(DER_OCTET_STRING, new Uint8Array(length))
    const hash = encodeDer(DER_SEQUENCE, identifier('2a864886f70d0209'), encodeDer(DER_NULL))
    const derivation = encodeDer(DER_SEQUENCE, octets(16), encodeDerInteger(10_000_001), hash)
    const parameters = encodeDer(
      DER_SEQUENCE,
      encodeDer(DER_SEQUENCE, identifier('2a864886f70d01050c'), derivation),
      encodeDer(DER_SEQUENCE, identifier('60864801650304012a'), octets(16)),
    )
    const algorithm = encodeDer(DER_SEQUENCE, identifier('2a864886f70d01050d'), parameters)
    await expectInvalid(pemOf(encodeDer(DER_SEQUENCE, algorithm, octets(64))), 'iterations')
  })

  test('refuses a key of another curve', async () => {
    // An X25519 key is as long as an Ed25519 key.
    for (const { privateKey } of [generateKeyPairSync('ec', { namedCurve: 'P-256' }), generateKeyPairSync('x25519')]) {
      await expectInvalid(String(privateKey.export(nodeOptions)), 'the file does not contain an Ed25519 key')
    }
  })
})
