// Webhook messages: their endpoints, their content, and the outcome of delivery attempts.
import type { ApiKeyEnvironment } from './api-key.ts'
import type { SessionEvent, SessionState } from './session.ts'

/** Name of the provider for sessions that an external service decides. */
export const WEBHOOK_PROVIDER = 'webhook'

export interface WebhookEndpoint {
  readonly id: string
  readonly organizationId: string
  /** Sessions of live keys, or of test keys. */
  readonly environment: ApiKeyEnvironment
  readonly purpose: 'events' | 'decisions'
  readonly url: string
  /** Sealed with the organization's key, for the endpoint's id. */
  readonly sealedSecret: Uint8Array
  /** Signs together with the new secret until `previousUntilSeconds`. */
  readonly previousSealedSecret: Uint8Array | null
  readonly previousUntilSeconds: number | null
  readonly createdAtSeconds: number
  /** Since then, messages wait. Null unless paused. */
  readonly pausedAtSeconds: number | null
  /** The verification service whose own webhooks also decide. Null for none. */
  readonly service: string | null
  /** The service's signing secret, sealed like `sealedSecret`. Null without a service. */
  readonly sealedServiceSecret: Uint8Array | null
  readonly previousSealedServiceSecret: Uint8Array | null
  readonly previousServiceUntilSeconds: number | null
}

/** The member `type` of a message. Endpoints for decisions receive only the last. */
export const WEBHOOK_TYPES = [
  'session.created',
  'session.status_changed',
  'session.wallets_changed',
  'session.checked',
  'screening.hit',
  'session.decision_requested',
] as const
export type WebhookMessageType = (typeof WEBHOOK_TYPES)[number]

/** A hit as shown in messages: without the person's name and the listed name. */
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
    /** Who made the change; omitted if nothing was changed. */
    readonly actor?: string
  }
  /** The checks at that time; missing in messages that an older version queued. */
  readonly checks?: readonly { readonly name: string; readonly outcome: string }[]
  /** Only in `screening.hit`: the undecided hits. */
  readonly openHits?: readonly ToldHit[]
}

/** The outcome of an attempt to deliver a message. */
export type WebhookOutcome =
  | { readonly state: 'delivered'; readonly status: number }
  | { readonly state: 'dead'; readonly status: number | null; readonly failure: string }
  | {
      readonly state: 'waiting'
      readonly status: number | null
      readonly failure: string
      readonly nextAttemptAtSeconds: number
    }

/** The verification services known by name. A module implements their formats. */
export const VERIFICATION_SERVICES = ['sumsub', 'persona', 'veriff'] as const
export type VerificationServiceName = (typeof VERIFICATION_SERVICES)[number]
