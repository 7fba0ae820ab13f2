// Recorded values of each stored encrypted or hashed format, which later versions must read and compute.
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { createChallenges } from '../src/admin/accounts/challenges.ts'
import { deriveKeys, type KeyPurpose, macOf } from '../src/admin/accounts/derived-key.ts'
import { createSecretBox } from '../src/admin/accounts/secret-box.ts'
import { createTraces } from '../src/identity/checks/traces.ts'
import { secretContext, unwrapOrganizationKeys } from '../src/identity/evidence/organization-keys.ts'
import { deriveKey, openBytes } from '../src/identity/evidence/sealed-bytes.ts'
import { collect, openStream } from '../src/identity/evidence/sealed-stream.ts'
import { evidenceSubject } from '../src/identity/evidence/vault.ts'
import { decryptKeystorePkcs8 } from '../src/signing/keystore-pkcs8.ts'
import { digestOf, entryBytes, readEntry } from '../src/store/claim-log/entry.ts'

const KEY = createHash('sha256').update('countersign test key at rest').digest()
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
async function* inTwo(hex: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(hex.slice(0, 30), 'hex')
  yield Buffer.from(hex.slice(30), 'hex')
}

test('documents and secrets open with their key and context', async () => {
  const document = '4353453100767d31fc9de624ab92585b851bebc8bf4bc38d22a0dd187e07a5c95f6f2c5d53'
  expect(textOf(await collect(openStream(KEY, inTwo(document), 'organization\nsession')))).toBe('a document')
  const secret = Buffer.from('1a5036bbf83773b7dc3fdfc029454125ab7e0c39d100ea8a343b4f4d0478c4bcec525572', 'hex')
  expect(textOf(openBytes(deriveKey(KEY, 'a purpose'), secret, 'a context'))).toBe('a secret')
  const boxed = Buffer.from('55c3197a2f912d95cb10ffad9a490d9b484c56b414fc128d54658e408c0db3cda2d5ee7c', 'hex')
  expect(textOf(createSecretBox(KEY).open(boxed, 'totp user_1'))).toBe('a secret')
  expect(secretContext('webhook secret', 'endpoint_1')).toBe('countersign webhook secret\nendpoint_1')
  expect(evidenceSubject({ organizationId: 'org_1', sessionId: 's' }, 'e')).toBe('org_1\ns\ne')
})

test('the keys of an organization are unwrapped with the deployment key', () => {
  const wrappedKey = Buffer.from(
    '342c92ca11fed68fddc600903715bdae4ae73a0d94c2832e78f2b48009b64dd366e0ca5486bef5de923cd1325d3eddef0f393c2a64af99a6c464e8200c183837ab152dab32d95e88b6d3e32918b602a442fa018ea74c82c5d470adc9',
    'hex',
  )
  const keys = unwrapOrganizationKeys([KEY], 'org_1', { wrappedKey, wrappedBy: 'c58995ecdbf74ef7' })
  expect(keys.map(hexOf)).toEqual(['01'.repeat(32), '02'.repeat(32)])
})

test.each<[KeyPurpose, string]>([
  ['sign-in counters', '301361e4c95b5d88561165baceef1ef0dbca7e73ce594e9944406e857a25c0ad'],
  ['known devices', '128a79f81058e2bf2aa16f0e89069d1e2c7f98dbfef8285c1fe2988bba2bd764'],
  ['passkey challenges', 'c92a81e0d954c58602ac1a7d9fafbbc4ca612a71a0ec8f6ae0756adf470429ad'],
])('the key for %s is derived from the account key', (purpose, derived) => {
  expect(deriveKeys(() => [KEY, Buffer.alloc(32)], purpose)().map(hexOf)[0]).toBe(derived)
})

test('nodes of two versions accept the same MACs and passkey challenges', () => {
  expect(hexOf(macOf(KEY, ['a', 'b']))).toBe('e765c6ab24f1c18993fdbb748738f3f94a77b8f436f1f56aa13760d3c89de293')
  const challenge = 'AABlU_IszOo7H0wuCjxo3DfqH4sWt9RtxiXfxmYyHr-pGr22tN2IPtFiPPZj7w'
  const clock = { unixSeconds: () => 1_700_000_000, monotonicMs: () => 0 }
  const { check } = createChallenges(() => [KEY], clock)
  expect(check(challenge, { purpose: 'sign-in', userId: 'user_1' })).toEqual({ rememberUntilSeconds: 1_700_000_600 })
  expect(check(challenge, { purpose: 'confirmation', userId: 'user_1' })).toBeNull()
})

test('traces of evidence match stored traces', async () => {
  const key = Buffer.alloc(32, 7)
  const traces = createTraces({
    store: { findKey: async () => KEY, addKey: async () => KEY },
    keys: { open: async () => key, seal: async () => ({ sealed: KEY, sealedUnder: KEY }) },
  })
  expect(await traces.valueOf('org_1', 'document', 'P123')).toBe('e6080e35b23ec53f658dc01142a62774')
  expect(await traces.masked('org_1', 'face', '00ff00ff00ff00ff')).toBe('8963042576ec3acc')
})

test('a claim has the recorded digest and 64 bytes', () => {
  const digest = digestOf({ organizationId: 'org_1', keyId: 'key_1', idempotencyKey: 'retry' })
  expect(hexOf(digest)).toBe('808d98add9c6097c2caf57d6acf0f9ab84033b1920965b4a88142911b1076106')
  const claim = {
    digest: digest.subarray(0, 16),
    bodyHash: new Uint8Array(16).fill(0xb0),
    uuid: '01234567-89ab-4cde-8f01-23456789abcd',
    claimExpiresAtSeconds: 0x8123_4567,
    keepUntilSeconds: 0x9abc_def0,
    uuidSinceSeconds: 0x7060_5040,
    released: true,
  }
  const bytes = entryBytes([{ ...claim, replaces: 0x12_3456 }])
  expect(hexOf(bytes)).toBe(
    '808d98add9c6097c2caf57d6acf0f9abb0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b00123456789ab4cde8f0123456789abcd812345679abcdef07060504001123456',
  )
  expect(readEntry(bytes, 0)).toEqual(claim)
})

test('the MAC of a keystore covers its whole encoding', async () => {
  const lines = [
    'MIGjMF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBC+u0UHVVTrBD5BRF9H',
    'kWzCAgInEDAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQUQfCBqwtw+4azTRG',
    '2mKtgARAXiQdM8e30EwbwEU2xfcctLKl+ypWVKJJgi/PafXfZGBOMilImI9vUmLw',
    '+vC56GjsGfZbkiAdIkdWNGtziViwwA==',
  ]
  const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} ENCRYPTED PRIVATE KEY-----`)
  const mac = 'e61d594869bb884de481f41639750d2e2d0ac65c475831f0ea5fc4eea02e68a9'
  const keystore = [`Countersign-MAC: ${mac}`, begin, ...lines, end].join('\n')
  expect(await decryptKeystorePkcs8(keystore, 'test only')).toEqual(new Uint8Array(KEY))
})
