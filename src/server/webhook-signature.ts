// Signs and verifies messages between services: HMAC-SHA-256 of id, time and body, as defined by Standard Webhooks and
// compatible with its libraries. Source: https://www.standardwebhooks.com, specification 1.0.0.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { fixedError } from '../domain/errors.ts'

/** Followed by base64. */
const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32
/** Maximum difference between the clocks of sender and receiver, in either direction. */
const TIMESTAMP_TOLERANCE_SECONDS = 300
const ID_MAX = 128
/** Maximum number of signatures in the header. During a rotation of the secret, there are several. */
const SIGNATURES_MAX = 8

/**
 * The signature is missing, made with another secret, outside the time tolerance, or of another message. All cases
 * share one text (401).
 */
export class WebhookSignatureInvalidError extends fixedError(
  'UNAUTHENTICATED',
  'the message signature is missing or invalid',
) {}

export const newWebhookSecret = (): Uint8Array => new Uint8Array(randomBytes(SECRET_BYTES))

/** For display, which happens once: `whsec_…`. */
export const formatWebhookSecret = (secret: Uint8Array): string =>
  SECRET_PREFIX + Buffer.from(secret).toString('base64')

const signatureOf = (secret: Uint8Array, id: string, timestamp: string, body: string): string =>
  `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`

export interface WebhookHeaders {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** @param secrets one, or two during a rotation: a receiver needs only one of them */
export const signWebhook = (
  secrets: readonly Uint8Array[],
  { id, timestampSeconds, body }: { readonly id: string; readonly timestampSeconds: number; readonly body: string },
): WebhookHeaders => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestampSeconds),
  'webhook-signature': secrets.map((secret) => signatureOf(secret, id, String(timestampSeconds), body)).join(' '),
})

/** The signed parts are separated by dots, so an id must not contain any. */
const isId = (text: string): boolean => text.length <= ID_MAX && /^[A-Za-z0-9_-]+$/.test(text)

const sameText = (one: string, other: string): boolean => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Reports whether the time differs from the current time by at most five minutes. */
export const isTimely = (timestamp: string, nowSeconds: number): boolean =>
  /^(0|[1-9][0-9]{0,11})$/.test(timestamp) && Math.abs(nowSeconds - Number(timestamp)) <= TIMESTAMP_TOLERANCE_SECONDS

/**
 * Requires that one of the secrets matches one of the signatures.
 * @param secrets if empty, verification fails after the same time
 * @param given each signature with a function that computes the expected one
 * @throws WebhookSignatureInvalidError
 */
export const requireSignature = (
  secrets: readonly Uint8Array[],
  given: readonly { readonly signature: string; readonly expected: (secret: Uint8Array) => string }[],
): void => {
  if (given.length > SIGNATURES_MAX) throw new WebhookSignatureInvalidError()
  let verified = false
  for (const secret of secrets.length === 0 ? [new Uint8Array(SECRET_BYTES)] : secrets) {
    for (const { signature, expected } of given) if (sameText(signature, expected(secret))) verified = true
  }
  if (!verified || secrets.length === 0) throw new WebhookSignatureInvalidError()
}

/**
 * Returns the id of a message that was recently signed with one of the secrets. The caller must detect repeated
 * messages.
 * @param secrets as for requireSignature
 * @throws WebhookSignatureInvalidError
 */
export const verifyWebhook = (
  secrets: readonly Uint8Array[],
  headers: Headers,
  body: string,
  nowSeconds: number,
): { readonly id: string } => {
  const id = headers.get('webhook-id') ?? ''
  const timestamp = headers.get('webhook-timestamp') ?? ''
  if (!isId(id) || !isTimely(timestamp, nowSeconds)) throw new WebhookSignatureInvalidError()
  const given = (headers.get('webhook-signature') ?? '').split(' ')
  const expected = (secret: Uint8Array): string => signatureOf(secret, id, timestamp, body)
  requireSignature(
    secrets,
    given.map((signature) => ({ signature, expected })),
  )
  return { id }
}
