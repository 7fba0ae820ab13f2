// What the verification page and its server say to each other: shapes only, so that both sides can share the file.
import type { CheckType, SessionStatus } from '../domain/session.ts'
import type { DocumentKind, DocumentReceipt, DocumentRule, FieldName, Requirement } from '../identity/evidence-types.ts'

/** Names the consent text; raised whenever its meaning changes in any language. */
export const AGREEMENT_VERSION = '2'
/** Languages in which the text exists; recorded with it, as `1.en`. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

export interface OrganizationView {
  readonly name: string
  /** `#rrggbb`; null: the page's own colour. */
  readonly color: string | null
  /** Path of the logo under the page's own address, without a leading slash; null: none. */
  readonly logo: string | null
  /** Of its privacy policy; https. */
  readonly privacyUrl: string | null
  readonly supportEmail: string | null
  /** Its own words, by language. */
  readonly words: Readonly<Record<Language, string | null>>
  /** Days for which what people hand in is kept, by what became of it. */
  readonly keptDays: { readonly completed: number; readonly rejected: number; readonly abandoned: number }
  /** How long people waited for a decision lately; null where too few have. */
  readonly usualWaitSeconds: number | null
}

export interface ChainView {
  readonly name: string
  /** As people know it. */
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

/** One thing to correct: a field, a kind of document, or the wallets. */
export type CorrectionPart = FieldName | DocumentKind | 'wallets'

/** Everything that the page shows of a session. */
export interface SessionView {
  readonly sessionId: string
  /** Rises with every change; a view with a lower one is older. */
  readonly sequence: number
  readonly checkType: CheckType
  readonly status: SessionStatus
  /** Made with a test key: nothing here is real. */
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
  /** What still has to be given, or given anew, before the session can be handed in. */
  readonly missing: readonly CorrectionPart[]
  /** After being sent back: what it is about. Empty: nothing in particular, or not sent back. */
  readonly corrections: readonly CorrectionPart[]
  /** What the person is told about the last decision. */
  readonly comment: string | null
  /** Where the person may go back to: the address, and its host in ASCII. */
  readonly origin: { readonly url: string; readonly host: string } | null
}

/** Answer to a link that was brought. */
export type EntryAnswer =
  | { readonly kind: 'entered'; readonly sessionId: string }
  /** Opened in another browser before. */
  | {
      readonly kind: 'elsewhere'
      readonly organizationName: string
      readonly chains: readonly ChainView[]
      readonly contractChains: readonly string[]
    }

/** What to sign. */
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

/** Every answer other than 2xx; `reason` names what happened, finer than `code`, in lower case with hyphens. */
export interface ProblemAnswer {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly reason: string
}
