// The identity parts with a real store in a temporary folder, with a manual clock.

import { createHash } from 'node:crypto'
import { parseEvmAddress, parseSolanaAddress, type WalletAddress } from '../../src/domain/address.ts'
import type { ApiKeyEnvironment } from '../../src/domain/api-key.ts'
import { newSessionId } from '../../src/domain/identifier.ts'
import type { Level } from '../../src/domain/level.ts'
import type { CheckType, SessionState, SessionStatus, StatusChange } from '../../src/domain/session.ts'
import { type ProofKind, walletOn } from '../../src/domain/wallet.ts'
import { type CheckTables, createStoreChecks } from '../../src/identity/checks/store-checks.ts'
import {
  type ChangeListener,
  type ChangeTogether,
  createChangeTogether,
  createSessionChanges,
} from '../../src/identity/sessions/changes.ts'
import { createPortalLink } from '../../src/identity/sessions/portal-link.ts'
import { createManualProvider, createProviders } from '../../src/identity/sessions/providers.ts'
import type { RegisterTables } from '../../src/identity/sessions/register.ts'
import { createSandboxProvider } from '../../src/identity/sessions/sandbox.ts'
import { createStandings, type StandingChange } from '../../src/identity/standing/standings.ts'
import type { Store } from '../../src/store/store.ts'
import { openTemporaryStore } from '../store/temporary-store.ts'
import { markChecksMade } from '../support/made-checks.ts'

/** A wallet without a known key: the hash of a text. */
export const evmWallet = (number: number): WalletAddress =>
  parseEvmAddress(
    `0x${createHash('sha256').update(`countersign test wallet ${number}`).digest('hex').slice(0, 40)}`,
  ) as WalletAddress

export const SOLANA_WALLET = parseSolanaAddress('DeZVDBizsEVYvCDyLDLU8MPgE6ndYE2dDA1MXaL2neJC') as WalletAddress

export interface RegisterOptions {
  readonly environment?: ApiKeyEnvironment
  readonly checkType?: CheckType
  readonly wallet?: WalletAddress | null
  readonly originUrl?: string | null
  readonly sessionId?: string
  readonly tokenHash?: Uint8Array
  readonly provider?: string
}

/** Completes sessions without evidence. */
const OVERRIDE = { override: 'person' } as const

/** Runs work with the tables of a session's changes, in one transaction. */
export const inTransactionOf =
  (store: Store) =>
  <Result>(work: (tables: RegisterTables) => Promise<Result>): Promise<Result> =>
    store.transaction(({ sessions, sessionWallets: wallets, apiKeys }) => work({ sessions, wallets, apiKeys }))

export const openIdentity = async (open = openTemporaryStore) => {
  const temporary = await open()
  const { store } = temporary
  const states: SessionState[] = []
  const standings = createStandings({
    source: store.walletStandings,
    isUpToDate: () => true,
    loadLevel: async (organizationId) => (await store.organizations.find(organizationId))?.level ?? null,
  })
  const changed: StandingChange[] = []
  const listener: ChangeListener = {
    stateChanged: (state) => void states.push(state),
    standingChanged: (change) => {
      changed.push(change)
      standings.sessionChanged(change)
    },
  }
  const changes = createSessionChanges({ sessions: store.sessions, wallets: store.sessionWallets, listener })
  const together: ChangeTogether<CheckTables> = createChangeTogether(
    (work) =>
      store.transaction(({ sessions, sessionWallets, sessionChecks, screeningSettings }) =>
        work({ sessions, wallets: sessionWallets, checks: sessionChecks, settings: screeningSettings }),
      ),
    listener,
  )
  const createOrganization = async (slug: string, level: Level = 1): Promise<string> =>
    (await store.organizations.create({ slug, name: slug, level })).id

  const register = (organizationId: string, options: RegisterOptions = {}) =>
    changes.register({
      organizationId,
      environment: options.environment ?? 'live',
      checkType: options.checkType ?? 'kyc',
      sessionId: options.sessionId ?? newSessionId(),
      tokenHash: options.tokenHash ?? createPortalLink('http://127.0.0.1:1').tokenHash,
      walletAddress: options.wallet ?? null,
      originUrl: options.originUrl ?? null,
      provider: options.provider ?? 'manual',
      actor: 'key:test',
    })

  /** Changes the status. Marks the checks as made, and overrides missing evidence. */
  const move = async (
    organizationId: string,
    sessionId: string,
    to: SessionStatus,
    change: Partial<StatusChange> = {},
  ): Promise<SessionState> => {
    if (to === 'completed') await markChecksMade(store, organizationId, sessionId)
    const state = await changes.changeStatus({ organizationId, sessionId, to, actor: 'test', ...OVERRIDE, ...change })
    if (to === 'submitted') await markChecksMade(store, organizationId, sessionId)
    return state
  }

  let nonces = 0
  /** Connects a wallet with a real nonce and an unchecked signature. */
  const connect = async (
    organizationId: string,
    sessionId: string,
    address: WalletAddress,
    chain = address.startsWith('0x') ? 'ethereum' : 'solana',
    kind: ProofKind = 'eip191',
  ): Promise<SessionState> => {
    const nonce = `nonce${++nonces}`
    await store.sessionNonces.add({
      nonce,
      organizationId,
      sessionId,
      wallet: walletOn(address, 1),
      chain,
      portalHost: 'portal.example',
      message: 'message',
      expiresAtSeconds: temporary.clock.unixSeconds() + 600,
    })
    return changes.connectWallet({
      organizationId,
      sessionId,
      address,
      chain,
      nonce,
      proof: { kind, message: 'message', signature: '0x' },
      actor: 'person',
    })
  }

  /** Creates a completed session with these wallets; `consent` shares it with other organizations. */
  const complete = async (
    organizationId: string,
    wallets: readonly WalletAddress[],
    options: RegisterOptions & { readonly consent?: boolean } = {},
  ): Promise<SessionState> => {
    const { session } = await register(organizationId, options)
    for (const wallet of wallets) await connect(organizationId, session.id, wallet)
    const target = { organizationId, sessionId: session.id, actor: 'test' }
    if (options.consent === true) await changes.recordConsent({ ...target, version: 'v1' })
    await markChecksMade(store, organizationId, session.id)
    return changes.changeStatus({ ...target, ...OVERRIDE, to: 'completed' })
  }

  return {
    store,
    changes,
    standings,
    storeChecks: createStoreChecks(together, async (organizationId, compared) =>
      createHash('sha256').update(`${organizationId} ${compared}`).digest('hex'),
    ),
    states,
    changed,
    createOrganization,
    register,
    move,
    connect,
    complete,
    clock: temporary.clock,
    path: temporary.path,
    together: createChangeTogether(inTransactionOf(store), listener),
    providers: createProviders({ manual: createManualProvider(changes), sandbox: createSandboxProvider(changes) }),
    remove: temporary.remove,
  }
}

export type TestIdentity = Awaited<ReturnType<typeof openIdentity>>
