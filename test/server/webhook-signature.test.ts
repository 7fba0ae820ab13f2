// Signatures of webhooks (Standard Webhooks): the published example, and messages that must not verify.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  formatWebhookSecret,
  newWebhookSecret,
  signWebhook,
  verifyWebhook,
  WebhookSignatureInvalidError,
} from '../../src/server/webhook-signature.ts'

/** The example in the tests of the Standard Webhooks libraries. */
const EXAMPLE = {
  secret: new Uint8Array(Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')),
  message: { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampSeconds: 1_614_265_330, body: '{"test": 2432232314}' },
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}
const NOW = EXAMPLE.message.timestampSeconds
const OTHER = new Uint8Array(32).fill(9)

const headersOf = (changes: Readonly<Record<string, string | null>> = {}, secrets = [EXAMPLE.secret]): Headers => {
  const headers = new Headers({ ...signWebhook(secrets, EXAMPLE.message) })
  for (const [name, value] of Object.entries(changes)) value === null ? headers.delete(name) : headers.set(name, value)
  return headers
}
const verify = (headers: Headers, body = EXAMPLE.message.body, nowSeconds = NOW, secrets = [EXAMPLE.secret]) =>
  verifyWebhook(secrets, headers, body, nowSeconds)
const refused = (attempt: () => unknown): void => expect(attempt).toThrow(WebhookSignatureInvalidError)

describe('a signature', () => {
  test('equals the published example', () => {
    expect(signWebhook([EXAMPLE.secret], EXAMPLE.message)).toEqual({
      'webhook-id': EXAMPLE.message.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': EXAMPLE.signature,
    })
  })

  test('verifies any message and returns its id', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), fc.string({ unit: 'grapheme' }), (secret, body) => {
        const headers = new Headers({ ...signWebhook([secret], { ...EXAMPLE.message, body }) })
        expect(verify(headers, body, NOW, [secret])).toEqual({ id: EXAMPLE.message.id })
      }),
    )
  })

  test('does not verify with a different body, id or time', () => {
    fc.assert(
      fc.property(fc.nat(EXAMPLE.message.body.length - 1), fc.nat(93), (at, code) => {
        const character = String.fromCharCode(33 + code)
        const body = `${EXAMPLE.message.body.slice(0, at)}${character}${EXAMPLE.message.body.slice(at + 1)}`
        if (body !== EXAMPLE.message.body) refused(() => verify(headersOf(), body))
      }),
    )
    refused(() => verify(headersOf({ 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJeK' })))
    refused(() => verify(headersOf({ 'webhook-timestamp': String(NOW + 1) })))
  })

  test('is valid for five minutes before and after its time', () => {
    for (const offset of [0, 300, -300]) expect(verify(headersOf(), undefined, NOW + offset).id).toBeTruthy()
    for (const offset of [301, -301, 86_400]) refused(() => verify(headersOf(), undefined, NOW + offset))
  })

  test('does not verify with another secret or without secrets', () => {
    refused(() => verify(headersOf(), undefined, NOW, [OTHER]))
    refused(() => verify(headersOf(), undefined, NOW, []))
    // Without secrets, a placeholder of zeros is compared; it must not verify.
    refused(() => verify(headersOf({}, [new Uint8Array(32)]), undefined, NOW, []))
  })

  test('verifies if one of two signatures matches one of two secrets', () => {
    expect(verify(headersOf({}, [OTHER, EXAMPLE.secret])).id).toBeTruthy()
    expect(verify(headersOf(), undefined, NOW, [OTHER, EXAMPLE.secret]).id).toBeTruthy()
    refused(() => verify(headersOf({}, [OTHER])))
  })

  test.each<[string, Readonly<Record<string, string | null>>]>([
    ['a missing id', { 'webhook-id': null }],
    ['a missing time', { 'webhook-timestamp': null }],
    ['a missing signature', { 'webhook-signature': null }],
    ['a dot in the id', { 'webhook-id': `${EXAMPLE.message.id}.x` }],
    ['a long id', { 'webhook-id': 'x'.repeat(129) }],
    ['a word as the time', { 'webhook-timestamp': 'now' }],
    ['a fraction in the time', { 'webhook-timestamp': `${NOW}.0` }],
    ['a leading zero in the time', { 'webhook-timestamp': `0${NOW}` }],
    ['a long time', { 'webhook-timestamp': '9'.repeat(40) }],
    ['another version', { 'webhook-signature': EXAMPLE.signature.replace('v1', 'v1a') }],
    ['a missing version', { 'webhook-signature': EXAMPLE.signature.slice(3) }],
    ['an empty signature', { 'webhook-signature': 'v1,' }],
    ['too many signatures', { 'webhook-signature': `${'v1,x '.repeat(20)}${EXAMPLE.signature}` }],
  ])('is refused with %s', (_name, changes) => refused(() => verify(headersOf(changes))))
})

test('a secret has 32 random bytes in the format of the specification', () => {
  const [one, other] = [newWebhookSecret(), newWebhookSecret()]
  expect(formatWebhookSecret(one)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(formatWebhookSecret(one)).not.toBe(formatWebhookSecret(other))
  expect(formatWebhookSecret(EXAMPLE.secret)).toBe('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
})
