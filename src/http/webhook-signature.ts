// Signatures of messages between services, both ways: HMAC-SHA-256 over id, time and body, as Standard Webhooks has it, so
// that its libraries verify ours and sign theirs. Source: https://www.standardwebhooks.com, specification 1.0.0.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { CountersignError } from '../domain/errors.ts'

/** Base64 follows. */
const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32
/** How far the sender's clock may be from ours, either way. */
export const TIMESTAMP_TOLERANCE_SECONDS = 300
const ID_MAX = 128
/** Several may stand in the header while a secret is exchanged. */
const SIGNATURES_MAX = 8

/** Not signed, not by whom it should be, not now, or changed on the way: one text for all of it (401). */
export class WebhookSignatureInvalidError extends CountersignError {
  override readonly name = 'WebhookSignatureInvalidError'
  constructor() {
    super('UNAUTHENTICATED', 'the message is not signed as it must be')
  }
}

export const newWebhookSecret = (): Uint8Array => new Uint8Array(randomBytes(SECRET_BYTES))

/** As people are shown it, once: `whsec_…`. */
export const formatWebhookSecret = (secret: Uint8Array): string =>
  SECRET_PREFIX + Buffer.from(secret).toString('base64')

const signatureOf = (secret: Uint8Array, id: string, timestamp: string, body: string): string =>
  `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`

export interface WebhookHeaders {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** @param secrets one, or two while one is exchanged for the other: a receiver needs to know one of them. */
export const signWebhook = (
  secrets: readonly Uint8Array[],
  { id, timestampSeconds, body }: { readonly id: string; readonly timestampSeconds: number; readonly body: string },
): WebhookHeaders => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestampSeconds),
  'webhook-signature': secrets.map((secret) => signatureOf(secret, id, String(timestampSeconds), body)).join(' '),
})

/** What the id is signed with is told apart by dots, so it has none. */
const isId = (text: string): boolean => text.length <= ID_MAX && /^[A-Za-z0-9_-]+$/.test(text)

const sameText = (one: string, other: string): boolean => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * The id of a message that one of the secrets signed, not long ago. Whether it came before is for the caller to know.
 * @param secrets none: nothing verifies, and takes as long.
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
  const given = (headers.get('webhook-signature') ?? '').split(' ')
  const atSeconds = /^(0|[1-9][0-9]{0,11})$/.test(timestamp) ? Number(timestamp) : Number.NaN
  const timely = Math.abs(nowSeconds - atSeconds) <= TIMESTAMP_TOLERANCE_SECONDS
  if (!isId(id) || !timely || given.length > SIGNATURES_MAX) throw new WebhookSignatureInvalidError()
  let verified = false
  for (const secret of secrets.length === 0 ? [new Uint8Array(SECRET_BYTES)] : secrets) {
    const expected = signatureOf(secret, id, timestamp, body)
    for (const signature of given) if (sameText(signature, expected)) verified = true
  }
  if (!verified || secrets.length === 0) throw new WebhookSignatureInvalidError()
  return { id }
}
