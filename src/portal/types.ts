import type { ApiKeyEnvironment } from '../domain/api-key.ts'
import type { ChainTable } from '../domain/chain.ts'
import type { SessionState, SessionStatus } from '../domain/session.ts'
import type { ContinuationChallenge, LinkSession } from '../domain/wallet.ts'
import type { EvidenceService } from '../identity/evidence-types.ts'
import type { SessionChanges } from '../identity/sessions/changes.ts'
import type { Connect } from '../identity/sessions/connect.ts'
import type { QrCodeOf } from '../identity/sessions/portal-link.ts'
import type { VerifyProof } from '../identity/sessions/proof.ts'
import type { Providers } from '../identity/sessions/providers.ts'
import type { StreamHub } from '../identity/streams/stream-hub.ts'
import type { Clock } from '../lib/time.ts'
import type { BrowserCookies } from './browser-cookie.ts'

export interface FromBrowser {
  readonly cookieHash: Uint8Array
}

/** See src/store/sessions/portal-links.ts. */
export interface PortalLinks {
  find(linkHash: Uint8Array): Promise<(LinkSession & { readonly cookieHash: Uint8Array | null }) | null>
  bind(link: LinkSession, linkHash: Uint8Array, cookieHash: Uint8Array, own: Uint8Array | null): Promise<boolean>
  findBrowser(
    cookieHash: Uint8Array,
    sessionId: string,
  ): Promise<(LinkSession & { readonly status: SessionStatus }) | null>
  touchBrowser(cookieHash: Uint8Array, sessionId: string): Promise<boolean>
  leaveBrowser(cookieHash: Uint8Array, link: LinkSession): Promise<boolean>
  addHandover(link: LinkSession & FromBrowser, linkHash: Uint8Array, expiresAtSeconds: number): Promise<void>
  addChallenge(challenge: ContinuationChallenge): Promise<void>
  findChallenge(linkHash: Uint8Array, nonce: string): Promise<ContinuationChallenge | null>
  moveLink(
    challenge: ContinuationChallenge,
    cookieHash: Uint8Array,
    onlyUnproven?: boolean,
  ): Promise<boolean | 'wallet-foreign'>
}

/** See src/store/sessions/portal-progress.ts. */
interface PortalProgress {
  recordAgreement(
    input: LinkSession &
      FromBrowser & { readonly version: string; readonly shares: boolean; readonly usesDetails: boolean },
  ): Promise<void>
  findAgreement(
    organizationId: string,
    sessionId: string,
  ): Promise<{ readonly version: string; readonly shares: boolean; readonly usesDetails: boolean } | null>
  findCorrections(
    organizationId: string,
    sessionId: string,
  ): Promise<{ readonly parts: readonly string[]; readonly done: readonly string[] } | null>
}

/** See src/store/organizations/organization-brands.ts. */
interface OrganizationBrands {
  find(organizationId: string): Promise<{
    readonly color: string | null
    readonly logoVersion: string | null
    readonly privacyUrl: string | null
    readonly supportEmail: string | null
    readonly wordsEn: string | null
    readonly wordsDe: string | null
    readonly asksDetails: boolean
  }>
  findLogo(organizationId: string): Promise<{ readonly type: string; readonly bytes: Uint8Array } | null>
}

export interface PortalParts {
  /** Stores the country of the submission, without the address. */
  readonly noteAddress: (session: LinkSession, address: string) => Promise<void>
  readonly sessions: {
    find(organizationId: string, sessionId: string): Promise<SessionState | null>
    findUsualWait(organizationId: string, environment: ApiKeyEnvironment): Promise<number | null>
  }
  readonly organizations: { find(organizationId: string): Promise<{ readonly name: string } | null> }
  readonly brands: OrganizationBrands
  /** See src/store/evidence/evidence-retention.ts. */
  readonly retention: {
    find(organizationId: string): Promise<{
      readonly completedDays: number
      readonly rejectedDays: number
      readonly abandonedDays: number
    }>
  }
  readonly links: PortalLinks
  readonly progress: PortalProgress
  readonly evidence: EvidenceService
  readonly connect: Connect
  readonly verifyProof: VerifyProof
  readonly changes: {
    removeWallet(removal: Parameters<SessionChanges['removeWallet']>[0] & FromBrowser): Promise<SessionState>
  }
  readonly providers: Pick<Providers, 'of'>
  readonly hub: Pick<StreamHub, 'open'>
  readonly cookies: BrowserCookies
  readonly chains: ChainTable
  /** EIP-155 ids of chains on which contract wallets can be verified. */
  readonly contractChainIds: readonly number[]
  readonly qrCodeOf: QrCodeOf
  readonly portalUrl: string
  readonly clock: Clock
}
