// The hosted verification page, put together: its files, its API and its listener.

import type { ClientAddress } from '../server/client-address.ts'
import type { Deadlines } from '../server/deadline.ts'
import type { ListenerTls } from '../server/listen-address.ts'
import type { RequestIdSource } from '../server/request-id.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { buildPortalAssets } from './assets.ts'
import { createEntry } from './entry.ts'
import { evidenceRoutes } from './evidence-routes.ts'
import { createPortalGate } from './gate.ts'
import { type PortalListener, startPortalListener } from './listener.ts'
import { createPageLimits } from './session-limit.ts'
import { createSessionTools, sessionRoutes } from './session-routes.ts'
import { streamRoutes } from './stream-route.ts'
import type { PortalParts } from './types.ts'
import { walletRoutes } from './wallet-routes.ts'

export interface PortalOptions {
  readonly parts: PortalParts
  readonly listen: { readonly hostname: string; readonly port: number }
  /** Null: HTTP. */
  readonly tls: ListenerTls | null
  readonly deadlines: Deadlines
  /** For documents over slow lines. */
  readonly uploadDeadlines: Deadlines
  readonly requestIds: RequestIdSource
  readonly metrics: Pick<Metrics, 'route' | 'recordError'>
  readonly clientAddress: ClientAddress
  readonly report: (error: unknown, requestId: string) => void
}

/** @throws PageBuildError */
export const startPortal = async (options: PortalOptions): Promise<PortalListener> => {
  const { parts, listen, tls, deadlines, uploadDeadlines, requestIds, metrics, clientAddress, report } = options
  const { portalUrl, clock } = parts
  const { origin } = new URL(portalUrl)
  const gate = createPortalGate({
    deadlines,
    uploadDeadlines,
    requestIds,
    metrics,
    report,
    origin,
    monotonicMs: clock.monotonicMs,
  })
  const limits = createPageLimits(clock)
  const entry = createEntry(parts, limits)
  const tools = createSessionTools(parts, limits)
  return startPortalListener({
    listen,
    tls,
    entry,
    requestIds,
    portalUrl,
    clientAddress,
    report,
    assets: await buildPortalAssets(portalUrl),
    routes: [
      ...entry.routes(gate),
      ...sessionRoutes(gate, parts, tools),
      ...walletRoutes(gate, parts, tools),
      ...evidenceRoutes(gate, parts, tools),
      ...streamRoutes(gate, parts, tools),
    ],
  })
}
