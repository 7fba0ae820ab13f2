// The page follows its session: the same stream that the organization's backend may follow, for the browser's cookie.
import { isSessionFinal } from '../domain/session.ts'
import { SessionClosedError } from '../domain/session-errors.ts'
import { eventStreamResponse } from '../http/event-stream.ts'
import type { PortalGate, PortalRoute } from './gate.ts'
import type { SessionTools } from './session-routes.ts'
import type { PortalParts } from './types.ts'

/** Tabs of a browser, and streams of theirs that the network has cut and nobody has noticed yet. */
const STREAMS_PER_BROWSER_MAX = 10

export const streamRoutes = (
  gate: PortalGate,
  { hub }: Pick<PortalParts, 'hub'>,
  { access }: SessionTools,
): readonly PortalRoute[] => [
  gate({ method: 'GET', path: '/api/sessions/*/events' }, async ({ request, requestId, parameters, deadline }) => {
    const { state, cookieHash } = await access.open(request, parameters[0] ?? '')
    const { organizationId, id: sessionId, status } = state.session
    if (isSessionFinal(status)) throw new SessionClosedError(status)
    const stream = await hub.open({
      organizationId,
      sessionId,
      streamsMax: STREAMS_PER_BROWSER_MAX,
      keyId: `portal:${Buffer.from(cookieHash).toString('base64url')}`,
      accepts: () => true,
      // Asked every 15 s: a browser that was let go hears nothing more, nor does anyone once the session is final.
      allowed: async () => {
        const found = await access.find(request.headers, sessionId)
        return found !== null && !isSessionFinal(found.status)
      },
      signal: request.signal,
      isLate: () => deadline.passed,
    })
    return eventStreamResponse(stream, requestId, null)
  }),
]
