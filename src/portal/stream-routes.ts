// Event stream of a session for the hosted page, authenticated by the cookie.

import { Elysia } from 'elysia'
import { isSessionFinal } from '../domain/session.ts'
import { SessionClosedError } from '../domain/session-errors.ts'
import { eventStreamResponse } from '../server/event-stream.ts'
import type { PortalGate } from './gate.ts'
import type { SessionTools } from './session-routes.ts'
import type { PortalParts } from './types.ts'

/** Maximum streams: enough for several tabs and undetected broken connections. */
const STREAMS_PER_BROWSER_MAX = 10

export const streamRoutes = (gate: PortalGate, { hub }: Pick<PortalParts, 'hub'>, { access }: SessionTools) =>
  new Elysia({ name: 'portal stream' }).get(
    '/api/sessions/:session/events',
    gate(async ({ request, requestId, params, deadline, keepOpen }) => {
      const { state, cookieHash } = await access.open(request, params['session'] ?? '')
      const { organizationId, id: sessionId, status } = state.session
      if (isSessionFinal(status)) throw new SessionClosedError(status)
      const stream = await hub.open({
        organizationId,
        sessionId,
        isPage: true,
        streamsMax: STREAMS_PER_BROWSER_MAX,
        keyId: `portal:${Buffer.from(cookieHash).toString('base64url')}`,
        accepts: () => true,
        mayReceive: async () => (await access.find(request.headers, sessionId)) !== null,
        // Called every 15 s; ends the streams of a released browser and of a final session.
        allowed: async () => {
          const found = await access.find(request.headers, sessionId)
          return found !== null && !isSessionFinal(found.status)
        },
        signal: request.signal,
        isLate: () => deadline.passed,
      })
      keepOpen()
      return eventStreamResponse(stream, requestId, null)
    }),
  )
