// Sessions of one organization, or 404, and how they name who changed them.
import { FieldInvalidError } from '../domain/errors.ts'
import type { Session, SessionState, SessionStatus } from '../domain/session.ts'
import { requirementsOf } from '../identity/evidence-types.ts'
import type { Tables } from '../store/store.ts'
import { type Actor, authorName } from './actor.ts'
import { SubjectUnknownError } from './errors.ts'

export const BASE = '/organizations/{organization}/sessions'

/** As sessions name who changed them. */
export const operator = (actor: Actor): string => `operator:${authorName(actor)}`

export const requireSession = async (
  tables: Pick<Tables, 'sessions'>,
  organizationId: string,
  sessionId: string,
): Promise<SessionState> => {
  const state = await tables.sessions.find(organizationId, sessionId.toLowerCase())
  if (state === null) throw new SubjectUnknownError('session')
  return state
}

/**
 * A final rejection says why: to the person, or to colleagues alone where the person must not be warned.
 * @throws FieldInvalidError for the field `public_comment`
 */
export const requireReason = (
  status: SessionStatus,
  comments: { readonly public_comment?: string | null; readonly private_comment?: string | null },
): void => {
  const given = [comments.public_comment, comments.private_comment]
  if (status !== 'rejected' || given.some((text) => (text ?? '') !== '')) return
  throw new FieldInvalidError('public_comment', 'must say why, or the private comment must: a rejection is final')
}

/**
 * What the person is to do again: parts that this session asks for, and only where it is sent back.
 * @throws FieldInvalidError for the field `corrections`
 */
export const correctionsOf = (
  { checkType, level }: Session,
  status: SessionStatus,
  corrections: readonly string[] | undefined,
): { readonly corrections?: readonly string[] } => {
  if (corrections === undefined) return {}
  if (status !== 'retry') throw new FieldInvalidError('corrections', 'goes with retry')
  const known = [
    ...requirementsOf(checkType, level).map((part) => (part.part === 'field' ? part.name : part.kind)),
    'wallets',
  ]
  if (corrections.some((part) => !known.includes(part))) {
    throw new FieldInvalidError('corrections', `takes ${known.join(', ')}`)
  }
  return { corrections }
}
