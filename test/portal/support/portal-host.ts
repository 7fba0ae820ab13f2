// The verification page and all identity parts, with a real store in a temporary folder, on a free port.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createIdentity,
  createStoredStandings,
  type IdentityDependencies,
} from '../../../src/compose/identity-service.ts'
import { startPortalService } from '../../../src/compose/portal-service.ts'
import { createChainTable } from '../../../src/domain/chain.ts'
import { newSessionId } from '../../../src/domain/identifier.ts'
import type { Level } from '../../../src/domain/level.ts'
import { CHECK_TYPES, type SessionState, type SessionType, type StatusChange } from '../../../src/domain/session.ts'
import { parseWalletAddress } from '../../../src/domain/wallet.ts'
import { createOrganizationKeys } from '../../../src/identity/evidence/organization-keys.ts'
import { createPortalLink } from '../../../src/identity/sessions/portal-link.ts'
import { type Clock, systemClock } from '../../../src/lib/time.ts'
import { createDeadlines } from '../../../src/server/deadline.ts'
import { createRequestIds } from '../../../src/server/request-id.ts'
import { openStore } from '../../../src/store/store.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { freePort } from '../../service/start-service.ts'
import { placeMigrated } from '../../store/temporary-store.ts'
import { markChecksMade } from '../../support/made-checks.ts'

export interface RegisterOptions {
  readonly type?: SessionType
  readonly walletAddress?: string
  readonly originUrl?: string
  readonly environment?: 'live' | 'test'
}

export interface Registered {
  readonly sessionId: string
  /** Link for the person. */
  readonly link: string
}

interface HostOptions {
  readonly name?: string
  readonly level?: Level
  /** Chain name → RPC URL. */
  readonly rpc?: Readonly<Record<string, string>>
  readonly portalUrl?: string
}

/** Parts of the identity API, which the page does not use. */
const unused = (() => {
  throw new Error('not used by the verification page')
}) as never

export const startPortalHost = async (options: HostOptions = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-portal-'))
  let aheadSeconds = 0
  const clock: Clock = { ...systemClock, unixSeconds: () => systemClock.unixSeconds() + aheadSeconds }
  await placeMigrated(join(folder, 'countersign.db'))
  const store = await openStore({ path: join(folder, 'countersign.db'), clock })
  const port = freePort()
  const ownUrl = `http://127.0.0.1:${port}`
  const portalUrl = options.portalUrl ?? ownUrl
  const chains = createChainTable()
  const metrics = createMetrics({
    chains: chains.chains.map(({ name }) => name),
    build: { version: 'test', runtime: Bun.version, signer: 'none', store: 'sqlite' },
  })
  const failures: unknown[] = []
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
  const identity = await createIdentity({
    findService: () => null,
    store,
    portalUrl,
    standings: createStoredStandings(store, () => true),
    gate: () => unused,
    signedGate: () => unused,
    idempotent: unused,
    authenticator: { authenticate: unused } as unknown as IdentityDependencies['authenticator'],
    log: log as unknown as IdentityDependencies['log'],
    chains,
    streamsMax: 1_000,
    streamsPerKeyMax: 1_000,
    organizationKeys: createOrganizationKeys({
      store: store.organizationKeys,
      deploymentKeys: () => [createHash('sha256').update('countersign test deployment key').digest()],
    }),
    evidenceFolder: join(folder, 'evidence'),
    scanner: null,
    scannerAway: 'refuse',
    webhookReach: 'public' as IdentityDependencies['webhookReach'],
    openModules: async () => ({
      checks: [],
      onChecked: async () => undefined,
      prepareRequireCurrent: async () => async () => undefined,
      leaderTasks: [],
      lists: () => [],
      stop: async () => undefined,
    }),
    walletSources: { lists: () => [], screeners: new Map(), chainOf: async (name) => ({ name }) },
  })
  const deadlines = createDeadlines({ clock, durationMs: 25_000 })
  const listener = await startPortalService({
    store,
    identity,
    portalUrl,
    deadlines,
    metrics,
    tls: null,
    countryOf: (address) => (address === '127.0.0.1' ? 'FR' : null),
    config: {
      trustedProxies: [],
      portalListen: { hostname: '127.0.0.1', port },
      chains,
      chainSettings: new Map(Object.entries(options.rpc ?? {}).map(([name, url]) => [name, { rpcUrls: [url] }])),
    },
    requestIds: createRequestIds(),
    clock,
    report: (error) => void failures.push(error),
  })

  const createOrganization = (slug: string, name: string, level: Level) =>
    store.organizations.create({ slug, name, level })
  const organization = await createOrganization('acme', options.name ?? 'Acme Exchange', options.level ?? 1)

  const registerFor = async (organizationId: string, settings: RegisterOptions = {}): Promise<Registered> => {
    const link = createPortalLink(portalUrl)
    const wallet = settings.walletAddress === undefined ? null : parseWalletAddress(settings.walletAddress)
    const { session } = await identity.changes.register({
      organizationId,
      sessionId: newSessionId(),
      environment: settings.environment ?? 'live',
      checkType: CHECK_TYPES[settings.type ?? 'individual'],
      tokenHash: link.tokenHash,
      walletAddress: wallet?.address ?? null,
      originUrl: settings.originUrl ?? null,
      provider: settings.environment === 'test' ? 'sandbox' : 'manual',
      actor: 'key:test',
    })
    return { sessionId: session.id, link: link.url }
  }

  return {
    store,
    identity,
    organization,
    /** Errors that the service reported. */
    failures,
    createOrganization,
    registerFor,
    url: ownUrl,
    /** Advances the clock of the store and of the page. */
    passTime: (seconds: number): void => {
      aheadSeconds += seconds
    },
    register: (settings?: RegisterOptions) => registerFor(organization.id, settings),
    find: async (sessionId: string): Promise<SessionState> => {
      const state = await store.sessions.find(organization.id, sessionId)
      if (state === null) throw new Error('no such session')
      return state
    },
    /** Decides as an operator. Marks the checks as made, and overrides missing parts. */
    decide: async (
      sessionId: string,
      to: 'completed' | 'rejected' | 'retry',
      more: Pick<StatusChange, 'publicComment' | 'corrections' | 'revoke'> = {},
    ): Promise<SessionState> => {
      await markChecksMade(store, organization.id, sessionId)
      return identity.changes.changeStatus({
        organizationId: organization.id,
        sessionId,
        to,
        actor: 'operator:test',
        override: 'person',
        ...more,
      })
    },
    stop: async (): Promise<void> => {
      identity.close()
      await listener.stop()
      await identity.stop()
      deadlines.stop()
      metrics.stop()
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type PortalHost = Awaited<ReturnType<typeof startPortalHost>>
