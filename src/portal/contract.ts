// Requests and responses of the verification page: only types and constants, so that both sides can import the file.

import type { DocumentKind, FieldName, Requirement, SessionPart } from '../domain/requirements.ts'
import type { CheckType, SessionStatus } from '../domain/session.ts'
import type { DocumentReceipt, DocumentRule } from '../identity/evidence-types.ts'

/** Version of the consent text, incremented when its meaning changes in any language. */
export const AGREEMENT_VERSION = '4'
/** The consent is recorded with its version and language, such as `1.en`. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

export interface OrganizationView {
  readonly name: string
  /** `#rrggbb`; null for the default color. */
  readonly color: string | null
  /** Path relative to the page's URL, without a leading slash; null if there is none. */
  readonly logo: string | null
  readonly privacyUrl: string | null
  readonly supportEmail: string | null
  /** The organization's own text, by language. */
  readonly words: Readonly<Record<Language, string | null>>
  /** Retention of evidence by the outcome of its session. */
  readonly keptDays: { readonly completed: number; readonly rejected: number; readonly abandoned: number }
  /** Usual recent wait for a decision; null after too few sessions. */
  readonly usualWaitSeconds: number | null
}

export interface ChainView {
  readonly name: string
  readonly title: string
  /** EIP-155 chain id. */
  readonly chainId: number
}

export interface WalletView {
  readonly id: string
  readonly address: string
  readonly chain: string
  readonly chainTitle: string
}

export interface SessionView {
  readonly sessionId: string
  /** Incremented with every change, so a view with a lower number is older. */
  readonly sequence: number
  readonly checkType: CheckType
  readonly status: SessionStatus
  readonly test: boolean
  readonly organization: OrganizationView
  readonly agreement: { readonly version: string; readonly shares: boolean; readonly usesDetails: boolean } | null
  readonly agreementVersion: string
  /** True if the organization asks this person whether its policies may use country and age. */
  readonly asksDetails: boolean
  /** The only wallet that may connect; null for any. */
  readonly lockedWallet: string | null
  readonly wallets: readonly WalletView[]
  readonly walletsMax: number
  readonly chains: readonly ChainView[]
  /** Display names of chains on which contract wallets can be verified. */
  readonly contractChains: readonly string[]
  readonly requirements: readonly Requirement[]
  readonly fields: readonly FieldName[]
  readonly documents: readonly DocumentReceipt[]
  readonly documentRules: Readonly<Record<DocumentKind, DocumentRule>>
  readonly documentBytesMax: number
  /** Parts to add or correct before the session can be submitted. */
  readonly missing: readonly SessionPart[]
  /** Parts to correct in a session that was sent back; empty if none were specified. */
  readonly corrections: readonly SessionPart[]
  /** Comment for the person, on the last decision. */
  readonly comment: string | null
  /** Target of the link back, with its host in ASCII. */
  readonly origin: { readonly url: string; readonly host: string } | null
}

export type EntryAnswer =
  | { readonly kind: 'entered'; readonly sessionId: string }
  /** The link or its session belongs to another browser. */
  | {
      readonly kind: 'elsewhere'
      readonly organizationName: string
      readonly chains: readonly ChainView[]
      readonly contractChains: readonly string[]
    }

export interface ChallengeAnswer {
  readonly nonce: string
  readonly message: string
  /** Address in the canonical form. */
  readonly address: string
  readonly expiresAtSeconds: number
}

export interface HandoverAnswer {
  readonly url: string
  /** QR code as a PNG data URI. */
  readonly qrCode: string
  readonly expiresAtSeconds: number
}

/** Response with a status other than 2xx. `reason` is more detailed than `code`: lowercase, with hyphens. */
export interface ProblemAnswer {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly reason: string
}
