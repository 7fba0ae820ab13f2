// Creates a session, or reuses one of the wallet. Source: spec B1; decisions §5, "Reuse", "redirectUrl".

import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import type { CheckType, SessionStatus } from '../../domain/session.ts'
import { SessionUnknownError } from '../../domain/session-errors.ts'
import type { Clock } from '../../lib/time.ts'
import { requireActiveKey } from '../../server/authenticate.ts'
import type { RegisterRequest } from '../schema.ts'
import type { ChangeTogether, SessionTables } from './changes.ts'
import type { QrCodeOf } from './portal-link.ts'
import { createPortalLink, type PortalLink } from './portal-link.ts'
import type { Providers } from './providers.ts'

export interface RegisterTables extends SessionTables {
  readonly apiKeys: Parameters<typeof requireActiveKey>[0]
}

export interface RegisterDependencies {
  readonly together: ChangeTogether<RegisterTables>
  readonly clock: Pick<Clock, 'unixSeconds'>
  readonly providers: Providers
  readonly qrCodeOf: QrCodeOf
  readonly portalUrl: string
}

interface RegisterCall {
  readonly organizationId: string
  readonly environment: ApiKeyEnvironment
  /** Key that the transaction checks again; null if the transaction has checked the caller's permission. */
  readonly keyId: string | null
  readonly actor: string
  readonly checkType: CheckType
  readonly request: RegisterRequest
  /** Id of a new session, the same in every attempt of the request. */
  readonly sessionId: string
  readonly forcedOutcome: SessionStatus | null
}

export interface RegisteredSession {
  readonly created: boolean
  readonly sessionId: string
  readonly link: PortalLink
}

export const createRegister = ({ together, clock, providers, qrCodeOf, portalUrl }: RegisterDependencies) => ({
  register: async ({
    organizationId,
    environment,
    keyId,
    actor,
    checkType,
    request,
    sessionId,
    forcedOutcome,
  }: RegisterCall): Promise<RegisteredSession> => {
    const link = createPortalLink(portalUrl)
    const { created, session } = await together(async (changes, tables) => {
      if (keyId !== null) await requireActiveKey(tables.apiKeys, clock, { organizationId, keyId })
      const registered = await changes.register({
        organizationId,
        environment,
        checkType,
        sessionId,
        tokenHash: link.tokenHash,
        walletAddress: request.walletAddress,
        originUrl: request.originUrl,
        provider: providers.forNew(environment, organizationId).name,
        actor,
      })
      const provider = providers.of(registered.session)
      await provider.registered?.(registered.session, { forcedOutcome, changes, sessions: tables.sessions })
      return registered
    })
    return { created, sessionId: session.id, link }
  },

  /**
   * Creates another link, because links aren't stored. @throws SessionUnknownError, KeyUnusableError
   * @param requiresProof whether the link opens a session in use only with a proof of one of its wallets
   */
  relink: async (
    organizationId: string,
    sessionId: string,
    requiresProof: boolean,
    keyId: string | null,
  ): Promise<PortalLink> => {
    const link = createPortalLink(portalUrl)
    const token = { hash: link.tokenHash, requiresProof }
    await together(async (_changes, { sessions, apiKeys }) => {
      if (keyId !== null) await requireActiveKey(apiKeys, clock, { organizationId, keyId })
      if (!(await sessions.addLink(organizationId, sessionId, token))) throw new SessionUnknownError()
    })
    return link
  },

  answer: (sessionId: string, link: PortalLink, size: number): string =>
    JSON.stringify({ sessionId, redirectUrl: link.url, qrCode: qrCodeOf(link, size) }),
})

export type Register = ReturnType<typeof createRegister>
