import { FieldInvalidError } from '../domain/errors.ts'
import { requiredParts } from '../domain/requirements.ts'
import { operatorActor, type Session, type SessionState, type SessionStatus } from '../domain/session.ts'
import type { Tables } from '../store/store.ts'
import { type Actor, authorName } from './actor.ts'
import { ConflictError, requireFound } from './errors.ts'

export const BASE = '/organizations/{organization}/sessions'

export const operator = (actor: Actor): string => operatorActor(authorName(actor))

export const requireSession = async (
  tables: Pick<Tables, 'sessions'>,
  organizationId: string,
  sessionId: string,
): Promise<SessionState> => requireFound(await tables.sessions.find(organizationId, sessionId.toLowerCase()), 'session')

/** A completed or rejected session can be reviewed by all reviewers. @throws ConflictError */
export const requireNotAssignedElsewhere = async (
  tables: Pick<Tables, 'sessionAssignments'>,
  { organizationId, id, status }: Session,
  actor: Actor,
): Promise<void> => {
  if (status === 'completed' || status === 'rejected') return
  const { userId } = await tables.sessionAssignments.find(organizationId, id)
  if (userId !== null && (actor.kind !== 'person' || userId !== actor.user.id)) {
    throw new ConflictError('the session is assigned to another reviewer: assign it to yourself first')
  }
}

/** A rejection needs a comment; private if the person must not be alerted. @throws FieldInvalidError */
export const requireReason = (
  status: SessionStatus,
  comments: { readonly public_comment?: string | null; readonly private_comment?: string | null },
): void => {
  const given = [comments.public_comment, comments.private_comment]
  if (status !== 'rejected' || given.some((text) => (text ?? '') !== '')) return
  throw new FieldInvalidError('public_comment', 'or private_comment is required, because a rejection is final')
}

/**
 * Returns the parts to submit again: only with `retry`, and only required parts. @throws FieldInvalidError for
 * `corrections`
 */
export const correctionsOf = (
  session: Session,
  status: SessionStatus,
  corrections: readonly string[] | undefined,
): { readonly corrections?: readonly string[] } => {
  if (corrections === undefined) return {}
  if (status !== 'retry') throw new FieldInvalidError('corrections', 'requires the status retry')
  const known: readonly string[] = requiredParts(session)
  if (corrections.some((part) => !known.includes(part))) {
    throw new FieldInvalidError('corrections', `must contain only ${known.join(', ')}`)
  }
  return { corrections }
}
