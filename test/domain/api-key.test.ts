// API keys: their format, their checksum, and their lifetime.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import {
  API_KEY_LENGTH,
  type ApiKeyEnvironment,
  type ApiKeyKind,
  apiKeyStatus,
  hashApiKey,
  matchesApiKey,
  mintApiKey,
  parseApiKey,
} from '../../src/domain/api-key.ts'

const kinds = fc.constantFrom<ApiKeyKind>('attestation', 'identity', 'admin')
const environments = fc.constantFrom<ApiKeyEnvironment>('live', 'test')
const keys = fc.tuple(kinds, environments).map(([kind, environment]) => mintApiKey(kind, environment))

describe('an API key', () => {
  test.each([
    ['attestation', 'live', 'csa_live_'],
    ['identity', 'live', 'csi_live_'],
    ['admin', 'test', 'csm_test_'],
  ] as const)('has the prefix of its kind and environment, and a fixed length: %s, %s', (kind, environment, prefix) => {
    const { text } = mintApiKey(kind, environment)
    expect([text.slice(0, 9), text.length, API_KEY_LENGTH]).toEqual([prefix, 70, 70])
    expect(text.slice(9)).toMatch(/^[0-9A-Za-z]{61}$/)
  })

  test('ends in the CRC-32 of the preceding characters, as six base62 digits', () => {
    // The published check value of CRC-32 (ISO-HDLC) identifies the variant.
    expect(Bun.hash.crc32('123456789')).toBe(0xcbf43926)
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    const keyOf = (body: string): string => {
      let rest = Bun.hash.crc32(body)
      let checksum = ''
      for (let position = 0; position < 6; position++) {
        checksum = digits[rest % 62] + checksum
        rest = Math.floor(rest / 62)
      }
      return body + checksum
    }
    const key = keyOf(`csa_live_${'0'.repeat(55)}`)
    expect(parseApiKey(key)).toEqual({ kind: 'attestation', environment: 'live', keyId: '000000000000' })
    for (const character of ['\x7f', '\x80', '\xff']) {
      expect(parseApiKey(keyOf(`csa_live_${character}${'0'.repeat(54)}`))).toBeNull()
    }
  })

  test('is parsed into the fields that it was created from', () => {
    fc.assert(
      fc.property(keys, ({ text, ...parts }) => {
        expect(parseApiKey(text)).toEqual(parts)
        expect(parts.keyId).toMatch(/^[0-9A-Za-z]{12}$/)
      }),
    )
  })

  test('with any one character changed is not well formed', () => {
    const character = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
    const printable = fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code))
    fc.assert(
      fc.property(keys, fc.nat(API_KEY_LENGTH - 1), fc.oneof(printable, character), ({ text }, index, replacement) => {
        fc.pre(text[index] !== replacement)
        expect(parseApiKey(text.slice(0, index) + replacement + text.slice(index + 1))).toBeNull()
      }),
      { numRuns: 2_000 },
    )
  })

  test('with two neighbours swapped, cut or lengthened is not well formed', () => {
    fc.assert(
      fc.property(keys, fc.nat(API_KEY_LENGTH - 2), ({ text }, index) => {
        const swapped = text.slice(0, index) + text[index + 1] + text[index] + text.slice(index + 2)
        if (swapped !== text) expect(parseApiKey(swapped)).toBeNull()
        expect(parseApiKey(text.slice(0, index))).toBeNull()
        expect(parseApiKey(`${text}0`)).toBeNull()
      }),
    )
  })

  test('is null when parsed from any other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => parseApiKey(text) === null),
      { numRuns: 30 },
    )
  })

  test('is recognized only by its SHA-256', () => {
    const { text } = mintApiKey('attestation', 'live')
    expect(Buffer.from(hashApiKey(text)).toString('hex')).toBe(createHash('sha256').update(text).digest('hex'))
    expect(matchesApiKey(text, hashApiKey(text))).toBe(true)
    expect(matchesApiKey(mintApiKey('attestation', 'live').text, hashApiKey(text))).toBe(false)
  })

  test.each([
    [null, null, 9e9, 'active'],
    [100, null, 99, 'active'],
    [100, null, 100, 'expired'],
    [100, 50, 10, 'revoked'],
  ] as const)(
    'that expires at %p and was revoked at %p is at %d %s',
    (expiresAtSeconds, revokedAtSeconds, at, status) => {
      expect(apiKeyStatus({ expiresAtSeconds, revokedAtSeconds }, at)).toBe(status)
    },
  )
})
