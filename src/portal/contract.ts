// Request and response types of the verification page. Contains only types and constants, so that both sides can import
// it.

import type { DocumentKind, FieldName, Requirement, SessionPart } from '../domain/requirements.ts'
import type { CheckType, SessionStatus } from '../domain/session.ts'
import type { DocumentReceipt, DocumentRule } from '../identity/evidence-types.ts'

/** Version of the consent text; incremented whenever its meaning changes in any language. */
export const AGREEMENT_VERSION = '3'
/** Languages of the page. The language of the consent text is recorded with its version, as `1.en`. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

export interface OrganizationView {
  readonly name: string
  /** `#rrggbb`; null for the default color. */
  readonly color: string | null
  /** Path of the logo relative to the page's URL, without a leading slash; null if there is none. */
  readonly logo: string | null
  /** https URL of the organization's privacy policy. */
  readonly privacyUrl: string | null
  readonly supportEmail: string | null
  /** Custom text of the organization, by language. */
  readonly words: Readonly<Record<Language, string | null>>
  /** Retention of the evidence in days, by the session's outcome. */
  readonly keptDays: { readonly completed: number; readonly rejected: number; readonly abandoned: number }
  /** Usual recent wait for a decision; null if there are too few sessions. */
  readonly usualWaitSeconds: number | null
}

export interface ChainView {
  readonly name: string
  /** Display name of the chain. */
  readonly title: string
  /** EIP-155. */
  readonly chainId: number
}

export interface WalletView {
  readonly id: string
  readonly address: string
  /** Name and display name of the wallet's chain. */
  readonly chain: string
  readonly chainTitle: string
}

export interface SessionView {
  readonly sessionId: string
  /** Incremented with every change: a view with a lower number is older. */
  readonly sequence: number
  readonly checkType: CheckType
  readonly status: SessionStatus
  /** Whether the session was created with a test key. */
  readonly test: boolean
  readonly organization: OrganizationView
  /** Null before the person has agreed. */
  readonly agreement: { readonly version: string; readonly shares: boolean } | null
  readonly agreementVersion: string
  /** Only wallet that may connect; null for any. */
  readonly lockedWallet: string | null
  readonly wallets: readonly WalletView[]
  readonly walletsMax: number
  /** EVM chains that the person can choose from. */
  readonly chains: readonly ChainView[]
  /** Display names of the chains on which contract wallets can be verified. */
  readonly contractChains: readonly string[]
  readonly requirements: readonly Requirement[]
  /** Names of completed fields. */
  readonly fields: readonly FieldName[]
  readonly documents: readonly DocumentReceipt[]
  readonly documentRules: Readonly<Record<DocumentKind, DocumentRule>>
  readonly documentBytesMax: number
  /** Parts that the person must add or correct before the session can be submitted. */
  readonly missing: readonly SessionPart[]
  /** Parts to correct in a session that was sent back; empty if no specific parts were requested. */
  readonly corrections: readonly SessionPart[]
  /** Comment for the person on the last decision. */
  readonly comment: string | null
  /** Target of the link back: its URL, and its host in ASCII. */
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
  /** Address in canonical spelling. */
  readonly address: string
  readonly expiresAtSeconds: number
}

export interface HandoverAnswer {
  readonly url: string
  /** PNG as a data URI. */
  readonly qrCode: string
  readonly expiresAtSeconds: number
}

/**
 * Answer with a status other than 2xx. `reason` describes the problem in more detail than `code`, in lower case with
 * hyphens.
 */
export interface ProblemAnswer {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly reason: string
}
