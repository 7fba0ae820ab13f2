// Starts the verification page, with its API, on a separate listener.

import { Elysia } from 'elysia'
import { createRefusalPacer } from '../server/event-loop-turns.ts'
import { type Listener, type ListenerOptions, startListener } from '../server/listener.ts'
import { toProblem } from '../server/problem.ts'
import { createEntry, type PortalEntry } from './entry.ts'
import { evidenceRoutes } from './evidence-routes.ts'
import { createPortalGate, type PortalGate, type PortalGateDependencies, portalProblem } from './gate.ts'
import { basePathOf, buildPortalAssets, createPortalPages } from './pages.ts'
import { createPageLimits, type PageLimits } from './session-limit.ts'
import { createSessionTools, sessionRoutes } from './session-routes.ts'
import { streamRoutes } from './stream-routes.ts'
import type { PortalParts } from './types.ts'
import { walletRoutes } from './wallet-routes.ts'

interface PortalOptions
  extends Pick<ListenerOptions, 'listen' | 'tls'>,
    Omit<PortalGateDependencies, 'origin' | 'monotonicMs' | 'pacer'> {
  readonly parts: PortalParts
}

export const portalApi = (gate: PortalGate, parts: PortalParts, entry: PortalEntry, limits: PageLimits) => {
  const tools = createSessionTools(parts, limits)
  return new Elysia({ name: 'portal' })
    .use(entry.routes(gate))
    .use(sessionRoutes(gate, parts, tools))
    .use(walletRoutes(gate, parts, tools))
    .use(evidenceRoutes(gate, parts, tools))
    .use(streamRoutes(gate, parts, tools))
}

/** Idle limit, because a phone on a poor connection may pause while sending a photograph. */
const IDLE_SECONDS = 60

export const startPortal = async (options: PortalOptions): Promise<Listener> => {
  const { parts, listen, tls, requestIds, metrics, report } = options
  const { portalUrl, clock } = parts
  const pacer = createRefusalPacer()
  const gate = createPortalGate({
    ...options,
    pacer,
    origin: new URL(portalUrl).origin,
    monotonicMs: clock.monotonicMs,
  })
  const limits = createPageLimits(clock)
  const entry = createEntry(parts, limits)
  const api = portalApi(gate, parts, entry, limits)
  // A proxy may serve the page under a path, which it may remove or forward.
  const base = decodeURI(basePathOf(portalUrl))
  return startListener({
    listen,
    tls,
    requestIds,
    app: base === '' ? api : new Elysia().use(api).group(base, (site) => site.use(api)),
    publicUrl: portalUrl,
    idleTimeoutSeconds: IDLE_SECONDS,
    answersHead: false,
    pacer,
    pages: createPortalPages({ assets: await buildPortalAssets(portalUrl), entry, portalUrl }),
    toResponse: (error, requestId) => {
      metrics.recordError(toProblem(error).code)
      const response = portalProblem(error, requestId)
      if (response.status === 500) report(error, requestId)
      return response
    },
  })
}
