// Some verification services decide sessions by webhooks of their own. Each has a file beside this one, which says how
// it signs and what its events mean for our sessions. An event decides only when the service documents it as final;
// after any other event the session waits for a person (invariant 12).
import { createHash } from 'node:crypto'
import { FieldInvalidError } from '../../../domain/errors.ts'
import { COMMENT_MAX, type SessionStatus } from '../../../domain/session.ts'
import type { VerificationServiceName } from '../../../domain/webhook-message.ts'
import { replaceHidden } from '../../../lib/hidden-characters.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../server/strict-json.ts'
import type { verifyWebhook } from '../../../server/webhook-signature.ts'

export interface ServiceDecision {
  /** The id that the service has for the session; it decides only when it is our session's id. */
  readonly reference: string
  readonly status: Extract<SessionStatus, 'completed' | 'rejected' | 'retry'>
  /** When the service decided, by its own clock. */
  readonly decidedAtMs: number
  /** What the service wrote for the person. */
  readonly publicComment: string | null
  /** What the service wrote for operators. */
  readonly privateComment: string | null
}

export interface VerificationService {
  readonly name: VerificationServiceName
  /** Older messages are refused. Longer than the service repeats a message that was not accepted. */
  readonly ageSecondsMax: number
  /** @throws WebhookSignatureInvalidError */
  readonly verify: typeof verifyWebhook
  /** @returns null for an event that decides nothing. @throws FieldInvalidError */
  readonly read: (message: JsonObject) => ServiceDecision | null
}

/** The hash of the body, because not every service gives its messages an id. */
export const messageIdOf = (body: string): string => createHash('sha256').update(body).digest('hex')

export const objectAt = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})

/** @returns '' when the member is missing or no text */
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

/**
 * Joins texts of the service to a comment: without control characters, cut at COMMENT_MAX. Null when nothing is left.
 */
export const commentOf = (...parts: readonly string[]): string | null => {
  const text = parts
    .map((part) => replaceHidden(part, ' ').replaceAll(/ +/g, ' ').trim())
    .filter((part) => part !== '')
    .join('; ')
  return text === '' ? null : text.slice(0, COMMENT_MAX)
}
