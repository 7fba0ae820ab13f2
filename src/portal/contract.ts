// The shapes of requests and answers between the verification page and its server. Only types and constants, so that
// both sides can import the file.

import type { DocumentKind, FieldName, Requirement, SessionPart } from '../domain/requirements.ts'
import type { CheckType, SessionStatus } from '../domain/session.ts'
import type { DocumentReceipt, DocumentRule } from '../identity/evidence-types.ts'

/** Version of the consent text; incremented whenever its meaning changes in any language. */
export const AGREEMENT_VERSION = '2'
/** Languages of the text. The language is recorded with the version, as `1.en`. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

export interface OrganizationView {
  readonly name: string
  /** `#rrggbb`; null: the page's own colour. */
  readonly color: string | null
  /** Path of the logo under the page's own address, without a leading slash; null: none. */
  readonly logo: string | null
  /** The https address of the organization's privacy policy. */
  readonly privacyUrl: string | null
  readonly supportEmail: string | null
  /** The organization's own words to people, by language. */
  readonly words: Readonly<Record<Language, string | null>>
  /** Days for which the evidence is kept, by the session's outcome. */
  readonly keptDays: { readonly completed: number; readonly rejected: number; readonly abandoned: number }
  /** How long people waited for a decision lately; null when too few did. */
  readonly usualWaitSeconds: number | null
}

export interface ChainView {
  readonly name: string
  /** The chain's name for people. */
  readonly title: string
  /** EIP-155. */
  readonly chainId: number
}

export interface WalletView {
  readonly id: string
  readonly address: string
  /** Name and title of its chain. */
  readonly chain: string
  readonly chainTitle: string
}

/** Everything that the page shows of a session. */
export interface SessionView {
  readonly sessionId: string
  /** Increments with every change: a view with a lower number is older. */
  readonly sequence: number
  readonly checkType: CheckType
  readonly status: SessionStatus
  /** Whether the session was made with a test key. */
  readonly test: boolean
  readonly organization: OrganizationView
  /** Null before the person has agreed. */
  readonly agreement: { readonly version: string; readonly shares: boolean } | null
  readonly agreementVersion: string
  /** The only wallet that may connect. */
  readonly lockedWallet: string | null
  readonly wallets: readonly WalletView[]
  readonly walletsMax: number
  /** EVM chains to choose from. */
  readonly chains: readonly ChainView[]
  /** Titles of the chains on which contract wallets can be checked. */
  readonly contractChains: readonly string[]
  readonly requirements: readonly Requirement[]
  /** Fields that are filled. */
  readonly fields: readonly FieldName[]
  readonly documents: readonly DocumentReceipt[]
  readonly documentRules: Readonly<Record<DocumentKind, DocumentRule>>
  readonly documentBytesMax: number
  /** What the person still has to give, or to correct, before the session can be submitted. */
  readonly missing: readonly SessionPart[]
  /** What the person has to correct in a session that was sent back; empty when nothing particular was asked for. */
  readonly corrections: readonly SessionPart[]
  /** What the person is told about the last decision. */
  readonly comment: string | null
  /** Where the person may go back to: the address, and its host in ASCII. */
  readonly origin: { readonly url: string; readonly host: string } | null
}

/** Answer to a link that a browser opened. */
export type EntryAnswer =
  | { readonly kind: 'entered'; readonly sessionId: string }
  /** The link or its session belongs to another browser. */
  | {
      readonly kind: 'elsewhere'
      readonly organizationName: string
      readonly chains: readonly ChainView[]
      readonly contractChains: readonly string[]
    }

/** The message to sign. */
export interface ChallengeAnswer {
  readonly nonce: string
  readonly message: string
  /** The address as it should be written. */
  readonly address: string
  readonly expiresAtSeconds: number
}

export interface HandoverAnswer {
  readonly url: string
  /** PNG in a data URI. */
  readonly qrCode: string
  readonly expiresAtSeconds: number
}

/** Every answer other than 2xx. `reason` says what happened, in more detail than `code`, in lower case with hyphens. */
export interface ProblemAnswer {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly reason: string
}
