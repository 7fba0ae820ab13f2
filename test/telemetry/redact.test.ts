// Redaction of secrets in texts and of fields with secret names.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import bs58 from 'bs58'
import fc from 'fast-check'
import { type ApiKeyKind, mintApiKey } from '../../src/domain/api-key.ts'
import { isSecretName, REDACTED, redactText } from '../../src/telemetry/redact.ts'
import { words } from '../support/words.ts'

const HEX_KEY = createHash('sha256').update('countersign test key 1').digest('hex')
const KEY_PAIR = bs58.encode(Buffer.from(HEX_KEY + HEX_KEY, 'hex'))
const KINDS: readonly ApiKeyKind[] = ['attestation', 'identity', 'admin']

describe('names', () => {
  test.each(words`
    apiKey x-api-key API_KEY Authorization proxy-authorization cookie Set-Cookie password signer_passphrase
    client_secret accessToken tokens secrets private_key walletPrivateKey secretKey seed mnemonic keystore
  `)('%s is secret', (name) => {
    expect(isSecretName(name)).toBe(true)
  })
  test.each(['', ...words`key_id keyId organization request_id uuid attester tokenCount path`])(
    '%p is not secret',
    (name) => {
      expect(isSecretName(name)).toBe(false)
    },
  )
})

describe('redactText', () => {
  test('redacts API keys of any kind, in any position', () => {
    for (const kind of KINDS) {
      for (const environment of ['live', 'test'] as const) {
        const { text } = mintApiKey(kind, environment)
        expect(redactText(text)).toBe(REDACTED)
        expect(redactText(`x-api-key: ${text}, then`)).toBe(`x-api-key: ${REDACTED}, then`)
        expect(redactText(`prefix${text}suffix`)).toBe(REDACTED)
        expect(redactText(`{"a":"${text}","b":"${text}"}`)).toBe(`{"a":"${REDACTED}","b":"${REDACTED}"}`)
        expect(redactText(`cut short: ${text.slice(0, 15)}`)).toBe(`cut short: ${REDACTED}`)
      }
    }
  })

  test.each([
    ['32 bytes of hex', HEX_KEY],
    ['32 bytes with 0x', `0x${HEX_KEY}`],
    ['32 bytes in upper case', HEX_KEY.toUpperCase()],
    ['64 bytes of hex', HEX_KEY + HEX_KEY],
    ['64 bytes of base58', KEY_PAIR],
  ])('redacts %s', (_name, secret) => {
    expect(redactText(`key=${secret};`)).toBe(`key=${REDACTED};`)
  })

  test('redacts a whole PEM block', () => {
    expect(redactText('x\n-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END')).toBe(REDACTED)
  })

  test.each([
    ['an address', '0x8ba1f109551bD432803012645Ac136ddd64DBA72'],
    ['a Solana address', 'DeZVDBizsEVYvCDyLDLU8MPgE6ndYE2dDA1MXaL2neJC'],
    ['a uuid', 'b238931b-ad17-4414-9d27-51408b7275a6'],
    ['a signature', `0x${'ab'.repeat(65)}`],
    ['a project', 'x-0123456789abcdef0123456789abcdef'],
    ['words', 'the store is unavailable; it was a live_test_ of csb_live_ things'],
    ['nothing', ''],
  ])('keeps %s', (_name, text) => {
    expect(redactText(text)).toBe(text)
  })
})

test('API keys and hex keys are redacted in any surrounding text', () => {
  const surroundings = fc.string({ unit: 'binary', maxLength: 30 })
  const keys = fc.constantFrom(...KINDS.map((kind) => mintApiKey(kind, 'live').text))
  const separator = fc.constantFrom(' ', '"', ':', '/', '\n', '=', '-', '\u0000', 'é')
  fc.assert(
    fc.property(surroundings, surroundings, separator, keys, (before, after, mark, text) => {
      expect(redactText(before + text + after)).not.toContain(text.slice(9))
      expect(redactText(before + mark + HEX_KEY + mark + after)).not.toContain(HEX_KEY)
    }),
    { numRuns: 500 },
  )
})
