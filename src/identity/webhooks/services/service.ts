// A verification service whose own webhooks decide sessions: how it signs, and what its events mean for ours. Each service
// is a file beside this one. Rule of all: an event decides only by a word that the service documents as its final one;
// whatever else it says waits for a person (invariant 12).
import { createHash } from 'node:crypto'
import { FieldInvalidError } from '../../../domain/errors.ts'
import { COMMENT_MAX, type SessionStatus } from '../../../domain/session.ts'
import type { VerificationServiceName } from '../../../domain/verification-service.ts'
import type { JsonObject, JsonValue } from '../../../http/strict-json.ts'
import type { verifyWebhook } from '../../../http/webhook-signature.ts'

export interface ServiceDecision {
  /** What the service knows the session by: it has to be the session's id. */
  readonly reference: string
  readonly status: Extract<SessionStatus, 'completed' | 'rejected' | 'retry'>
  /** When the service decided, by its own clock. */
  readonly decidedAtMs: number
  /** What the service wrote for the person. */
  readonly publicComment: string | null
  /** What it wrote for operators. */
  readonly privateComment: string | null
}

export interface VerificationService {
  readonly name: VerificationServiceName
  /** Longer than it goes on sending a message that was not taken: older ones are refused. */
  readonly ageSecondsMax: number
  /** @throws WebhookSignatureInvalidError */
  readonly verify: typeof verifyWebhook
  /** @returns null for an event that decides nothing. @throws FieldInvalidError */
  readonly read: (message: JsonObject) => ServiceDecision | null
}

/** The same bytes are the same message: not every service numbers its own. */
export const messageIdOf = (body: string): string => createHash('sha256').update(body).digest('hex')

export const objectAt = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}

/** An empty text where there is none. */
export const textAt = (object: JsonObject, name: string): string => {
  const value = object[name]
  return typeof value === 'string' ? value : ''
}

/** @throws FieldInvalidError */
export const timeAt = (object: JsonObject, name: string, parse: (text: string) => number = Date.parse): number => {
  const ms = parse(textAt(object, name))
  if (!Number.isFinite(ms)) throw new FieldInvalidError(name, 'must be a time')
  return ms
}

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu

/** What a stranger wrote, as a comment of ours: without control characters, and cut where it is too long. */
export const commentOf = (...parts: readonly string[]): string | null => {
  const text = parts
    .map((part) => part.replaceAll(UNPRINTABLE, ' ').trim())
    .filter((part) => part !== '')
    .join('; ')
  return text === '' ? null : text.slice(0, COMMENT_MAX)
}
