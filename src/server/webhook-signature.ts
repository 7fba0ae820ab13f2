// Signs and verifies messages between services by Standard Webhooks (HMAC-SHA-256 of id, time and body).
// https://www.standardwebhooks.com, specification 1.0.0
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { fixedError } from '../domain/errors.ts'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32
/** Maximum difference between the clocks of sender and receiver, in either direction. */
const TIMESTAMP_TOLERANCE_SECONDS = 300
const ID_MAX = 128
/** Maximum signatures in the header, which has several during a rotation of the secret. */
const SIGNATURES_MAX = 8

/** The signature is missing, wrong, or outside the time tolerance. All cases share one text (401). */
export class WebhookSignatureInvalidError extends fixedError(
  'UNAUTHENTICATED',
  'the message signature is missing or invalid',
) {}

export const newWebhookSecret = (): Uint8Array => new Uint8Array(randomBytes(SECRET_BYTES))

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

/** Dots separate the signed parts, so an id must not contain any. */
const isId = (text: string): boolean => text.length <= ID_MAX && /^[A-Za-z0-9_-]+$/.test(text)

const sameText = (one: string, other: string): boolean => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

export const isTimely = (timestamp: string, nowSeconds: number): boolean =>
  /^(0|[1-9][0-9]{0,11})$/.test(timestamp) && Math.abs(nowSeconds - Number(timestamp)) <= TIMESTAMP_TOLERANCE_SECONDS

/** @param given signatures, with functions that compute the expected signatures */
export const requireSignature = (
  secrets: readonly Uint8Array[],
  given: readonly { readonly signature: string; readonly expected: (secret: Uint8Array) => string }[],
): void => {
  if (given.length > SIGNATURES_MAX) throw new WebhookSignatureInvalidError()
  let verified = false
  for (const secret of secrets) {
    for (const { signature, expected } of given) if (sameText(signature, expected(secret))) verified = true
  }
  if (!verified) throw new WebhookSignatureInvalidError()
}

/** Returns the message's id. The caller must detect repeated messages. @throws WebhookSignatureInvalidError */
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
