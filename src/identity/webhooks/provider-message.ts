// Decodes a decider's message strictly. The session's id is also in the message, because the path isn't signed.
import { FieldInvalidError, FieldMissingError } from '../../domain/errors.ts'
import { COMMENT_MAX, type SessionStatus } from '../../domain/session.ts'
import { hasHidden } from '../../lib/hidden-characters.ts'
import { isJsonObject, type JsonObject } from '../../server/strict-json.ts'

/** Only operators can revoke a completed session. */
const RESULTS = ['completed', 'rejected', 'retry'] as const satisfies readonly SessionStatus[]

const dataOf = (message: JsonObject, type: string, sessionId: string): JsonObject => {
  const { data } = message
  if (message['type'] !== type) throw new FieldInvalidError('type', `must be ${type}`)
  if (!isJsonObject(data)) throw new FieldMissingError('data')
  if (data['sessionId'] !== sessionId) throw new FieldInvalidError('data.sessionId', 'must be the session in the path')
  return data
}

const comment = (data: JsonObject, name: string): string | null => {
  const value = data[name] ?? null
  if (value === null) return null
  if (typeof value !== 'string' || value.length > COMMENT_MAX || hasHidden(value)) {
    throw new FieldInvalidError(`data.${name}`, `must be at most ${COMMENT_MAX} characters without control characters`)
  }
  return value
}

/** @throws FieldInvalidError, FieldMissingError */
export const decodeResult = (message: JsonObject, sessionId: string) => {
  const data = dataOf(message, 'session.decided', sessionId)
  const status = RESULTS.find((known) => known === data['status'])
  if (status === undefined) throw new FieldInvalidError('data.status', `must be one of ${RESULTS.join(', ')}`)
  const { sequence } = data
  if (sequence === undefined) throw new FieldMissingError('data.sequence')
  if (typeof sequence !== 'number' || !Number.isSafeInteger(sequence)) {
    throw new FieldInvalidError('data.sequence', 'must be a whole number')
  }
  return {
    status,
    publicComment: comment(data, 'publicComment'),
    privateComment: comment(data, 'privateComment'),
    /** Sequence that the decider saw: a decision must not apply to a later submission. */
    sequence,
  }
}

/**
 * Returns the id of the requested document; null for the fields and the list of documents. @throws FieldInvalidError,
 * FieldMissingError
 */
export const decodeEvidenceRequest = (
  message: JsonObject,
  sessionId: string,
): { readonly documentId: string | null } => {
  const data = dataOf(message, 'session.evidence_requested', sessionId)
  const documentId = data['documentId'] ?? null
  if (documentId !== null && typeof documentId !== 'string') {
    throw new FieldInvalidError('data.documentId', 'must be the id of a document')
  }
  return { documentId }
}
