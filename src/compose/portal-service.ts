// Builds the verification page. Identity owns its event streams.
import type { Config } from '../config/config.ts'
import { createConnect } from '../identity/sessions/connect.ts'
import { createContractProofVerifier } from '../identity/sessions/contract-proof.ts'
import { createQrCodes } from '../identity/sessions/portal-link.ts'
import { createVerifyProof } from '../identity/sessions/proof.ts'
import { evmChainName } from '../identity/sessions/wallet-chain.ts'
import type { Clock } from '../lib/time.ts'
import { createBrowserCookies } from '../portal/browser-cookie.ts'
import { startPortal } from '../portal/portal.ts'
import { createClientAddress } from '../server/client-address.ts'
import { createDeadlines, type Deadlines } from '../server/deadline.ts'
import type { ListenerTls } from '../server/listen-address.ts'
import type { Listener } from '../server/listener.ts'
import type { RequestIdSource } from '../server/request-id.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Identity } from './identity-service.ts'

interface PortalServiceDependencies {
  readonly config: Pick<Config, 'portalListen' | 'chains' | 'chainSettings' | 'trustedProxies'>
  readonly countryOf: (address: string) => string | null
  readonly tls: ListenerTls | null
  readonly store: Store
  readonly identity: Pick<Identity, 'changes' | 'providers' | 'evidence' | 'streams'>
  readonly portalUrl: string
  readonly deadlines: Deadlines
  readonly requestIds: RequestIdSource
  readonly metrics: Pick<Metrics, 'route' | 'recordError'>
  readonly clock: Clock
  readonly report: (error: unknown, requestId: string) => void
}

/** Limit for an upload: enough for a photograph over a slow connection. Evidence has its own limit. */
const UPLOAD_DEADLINE_MS = 300_000
/** Limit for a call, which is short because a person is waiting. */
const RPC_TIMEOUT_MS = 8_000

/** Returns the RPC URLs by EIP-155 id. */
const rpcUrlsOf = ({ chains, chainSettings }: PortalServiceDependencies['config']) => {
  const urls = new Map<number, readonly string[]>()
  for (const [name, { rpcUrls }] of chainSettings) {
    const chain = chains.byName(name)
    if (chain?.family === 'evm' && rpcUrls !== undefined) urls.set(chain.chainId, rpcUrls)
  }
  return urls
}

export const startPortalService = async (
  dependencies: PortalServiceDependencies,
): Promise<Pick<Listener, 'url' | 'stop'>> => {
  const { config, store, identity, portalUrl, countryOf, deadlines, requestIds, metrics, clock, report } = dependencies
  const rpcUrls = rpcUrlsOf(config)
  const verifyProof = createVerifyProof(
    createContractProofVerifier({
      rpcUrls,
      transport: async (url) => {
        const { createRpcTransport } = await import('../facts/rpc-transport.ts')
        return createRpcTransport({ url, timeoutMs: RPC_TIMEOUT_MS })
      },
    }),
  )
  const uploadDeadlines = createDeadlines({ clock, durationMs: UPLOAD_DEADLINE_MS })
  const listener = await startPortal({
    deadlines,
    uploadDeadlines,
    requestIds,
    metrics,
    report,
    clientAddress: createClientAddress(config.trustedProxies),
    listen: config.portalListen,
    tls: dependencies.tls,
    parts: {
      sessions: store.sessions,
      organizations: store.organizations,
      brands: store.organizationBrands,
      retention: store.evidenceRetention,
      links: store.portalLinks,
      progress: store.portalProgress,
      evidence: identity.evidence,
      noteAddress: ({ organizationId, sessionId }, address) =>
        store.sessionOrigins.note(organizationId, sessionId, countryOf(address)),
      connect: createConnect({
        verifyProof,
        clock,
        portalUrl,
        nonces: store.sessionNonces,
        changes: identity.changes,
        chainName: (chainId) => evmChainName(config.chains, chainId),
      }),
      changes: identity.changes,
      providers: identity.providers,
      hub: identity.streams,
      cookies: createBrowserCookies(portalUrl.startsWith('https:')),
      chains: config.chains,
      contractChainIds: [...rpcUrls.keys()],
      qrCodeOf: createQrCodes(portalUrl),
      verifyProof,
      portalUrl,
      clock,
    },
  })
  return {
    url: listener.url,
    stop: async () => {
      await listener.stop()
      uploadDeadlines.stop()
    },
  }
}
