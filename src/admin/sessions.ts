// Sessions of one organization, or 404, and how they name who changed them.
import type { SessionState } from '../domain/session.ts'
import type { Tables } from '../store/store.ts'
import { type Actor, actorId, actorName } from './actor.ts'
import { SubjectUnknownError } from './errors.ts'

export const BASE = '/organizations/{organization}/sessions'

/** As sessions name who changed them. */
export const operator = (actor: Actor): string =>
  `operator:${actor.kind === 'person' ? actorName(actor) : actorId(actor)}`

export const requireSession = async (
  tables: Pick<Tables, 'sessions'>,
  organizationId: string,
  sessionId: string,
): Promise<SessionState> => {
  const state = await tables.sessions.find(organizationId, sessionId.toLowerCase())
  if (state === null) throw new SubjectUnknownError('session')
  return state
}
