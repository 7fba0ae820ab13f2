// A verification service. An event decides only if the service documents it as final (invariant 12).
import { createHash } from 'node:crypto'
import { FieldInvalidError } from '../../../domain/errors.ts'
import { COMMENT_MAX, type SessionStatus } from '../../../domain/session.ts'
import type { VerificationServiceName } from '../../../domain/webhook-message.ts'
import { replaceHidden } from '../../../lib/hidden-characters.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../server/strict-json.ts'
import type { verifyWebhook } from '../../../server/webhook-signature.ts'

export interface ServiceDecision {
  /** Session id passed to the service. */
  readonly reference: string
  readonly status: Extract<SessionStatus, 'completed' | 'rejected' | 'retry'>
  /** Time of the decision by the service's clock. */
  readonly decidedAtMs: number
  readonly publicComment: string | null
  readonly privateComment: string | null
}

export interface VerificationService {
  readonly name: VerificationServiceName
  /** Maximum age of a message in seconds; longer than the service's retry period. */
  readonly ageSecondsMax: number
  /** @throws WebhookSignatureInvalidError */
  readonly verify: typeof verifyWebhook
  /** Returns null unless the event is a decision. @throws FieldInvalidError */
  readonly read: (message: JsonObject) => ServiceDecision | null
}

/** Hash of the body, because not every service assigns ids. */
export const messageIdOf = (body: string): string => createHash('sha256').update(body).digest('hex')

export const objectAt = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})

export const textAt = (object: JsonObject, name: string): string => {
  const value = object[name]
  return typeof value === 'string' ? value : ''
}

export const timeAt = (object: JsonObject, name: string, parse: (text: string) => number = Date.parse): number => {
  const ms = parse(textAt(object, name))
  if (!Number.isFinite(ms)) throw new FieldInvalidError(name, 'must be a time')
  return ms
}

/** One line of at most COMMENT_MAX characters, without control characters; null if empty. */
export const commentOf = (...parts: readonly string[]): string | null => {
  const text = parts
    .map((part) => replaceHidden(part, ' ').replaceAll(/ +/g, ' ').trim())
    .filter((part) => part !== '')
    .join('; ')
  return text === '' ? null : text.slice(0, COMMENT_MAX)
}
