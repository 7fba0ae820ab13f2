// Finds the session that a request may use. Only the request's cookie grants access. The session id alone does not, and
// a session of another browser is answered like an unknown one (threats row 2).
import type { Session, SessionState } from '../domain/session.ts'
import { BrowserUnknownError } from '../domain/session-errors.ts'
import { parseSessionId } from '../identity/schema.ts'
import { assignOwner } from '../lib/caller.ts'
import type { FromBrowser, PortalParts } from './types.ts'

interface Access extends FromBrowser {
  readonly state: SessionState
  /** Session with the browser that changes it. */
  readonly session: Session & FromBrowser
}

export const createSessionAccess = ({
  links,
  sessions,
  cookies,
}: Pick<PortalParts, 'links' | 'sessions' | 'cookies'>) => {
  /** Returns the organization and session that the browser may access; null without a valid cookie. */
  const find = async (headers: Headers, idText: string) => {
    const sessionId = parseSessionId(idText)
    const cookieHash = sessionId === null ? null : cookies.read(headers, sessionId)
    if (sessionId === null || cookieHash === null) return null
    const link = await links.findBrowser(cookieHash, sessionId)
    if (link === null) return null
    assignOwner(link.organizationId)
    return { ...link, cookieHash }
  }
  return {
    find,
    /** @throws BrowserUnknownError */
    open: async (request: Request, idText: string): Promise<Access> => {
      const found = await find(request.headers, idText)
      const state = found === null ? null : await sessions.find(found.organizationId, found.sessionId)
      if (found === null || state === null) throw new BrowserUnknownError()
      const { cookieHash } = found
      return { state, session: { ...state.session, cookieHash }, cookieHash }
    },
  }
}
