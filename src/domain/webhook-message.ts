// Where webhook messages go, what they are made of, and what became of an attempt to deliver one.
import type { ApiKeyEnvironment } from './api-key.ts'
import type { SessionEvent, SessionState } from './session.ts'

/** Name of the provider whose sessions an outside service decides. */
export const WEBHOOK_PROVIDER = 'webhook'

export interface WebhookEndpoint {
  readonly id: string
  readonly organizationId: string
  /** Sessions of live keys, or of test keys. */
  readonly environment: ApiKeyEnvironment
  readonly purpose: 'events' | 'decisions'
  readonly url: string
  /** Sealed by the organization's key, for the endpoint's id. */
  readonly sealedSecret: Uint8Array
  /** Signs together with the new secret until `previousUntilSeconds`. */
  readonly previousSealedSecret: Uint8Array | null
  readonly previousUntilSeconds: number | null
  readonly createdAtSeconds: number
  /** The verification service whose own webhooks also decide; null: none. */
  readonly service: string | null
  /** The secret with which the service signs, sealed like `sealedSecret`; null without a service. */
  readonly sealedServiceSecret: Uint8Array | null
  readonly previousSealedServiceSecret: Uint8Array | null
  readonly previousServiceUntilSeconds: number | null
}

/** The member `type` of a message. */
export type WebhookMessageType =
  | 'session.created'
  | 'session.status_changed'
  | 'session.wallets_changed'
  | 'session.decision_requested'
  | 'session.checked'
  | 'screening.hit'

/** A hit as messages show it: without the person's name and the listed name. */
export interface ToldHit {
  readonly id: string
  readonly check: string
  readonly list: string
  readonly subject: string
}

/** The content of a message: the session immediately after the event. */
export interface WebhookSnapshot {
  readonly state: SessionState
  readonly event: Pick<SessionEvent, 'sequence' | 'publicComment' | 'createdAtSeconds'> & {
    /** Who made the change; left out where nothing was changed. */
    readonly actor?: string
  }
  /** The checks at that time; absent in messages that an older version queued. */
  readonly checks?: readonly { readonly name: string; readonly outcome: string }[]
  /** In `screening.hit` only: the hits that nobody has decided. */
  readonly openHits?: readonly ToldHit[]
}

/** What became of an attempt to deliver a message. */
export type WebhookOutcome =
  | { readonly state: 'delivered'; readonly status: number }
  | { readonly state: 'dead'; readonly status: number | null; readonly failure: string }
  | {
      readonly state: 'waiting'
      readonly status: number | null
      readonly failure: string
      readonly nextAttemptAtSeconds: number
    }

/** The verification services that are known by name. A module has their formats. */
export const VERIFICATION_SERVICES = ['sumsub', 'persona', 'veriff'] as const
export type VerificationServiceName = (typeof VERIFICATION_SERVICES)[number]
