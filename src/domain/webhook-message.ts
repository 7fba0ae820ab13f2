import type { ApiKeyEnvironment } from './api-key.ts'
import type { SessionEvent, SessionState } from './session.ts'

export const WEBHOOK_PROVIDER = 'webhook'

export interface WebhookEndpoint {
  readonly id: string
  readonly organizationId: string
  /** Whether the endpoint receives sessions of live keys or of test keys. */
  readonly environment: ApiKeyEnvironment
  readonly purpose: 'events' | 'decisions'
  readonly url: string
  /** Sealed with the organization's key and the endpoint's id. */
  readonly sealedSecret: Uint8Array
  /** Signs in addition to the new secret until `previousUntilSeconds`. */
  readonly previousSealedSecret: Uint8Array | null
  readonly previousUntilSeconds: number | null
  readonly createdAtSeconds: number
  /** Messages have been waiting since then; null unless paused. */
  readonly pausedAtSeconds: number | null
  /** Verification service whose own webhooks also decide; null if there is none. */
  readonly service: string | null
  /** Signing secret of the service, sealed like `sealedSecret`; null if no service is connected. */
  readonly sealedServiceSecret: Uint8Array | null
  readonly previousSealedServiceSecret: Uint8Array | null
  readonly previousServiceUntilSeconds: number | null
}

/** Value of `type` in a message. Endpoints for decisions receive only the last type. */
export const WEBHOOK_TYPES = [
  'session.created',
  'session.status_changed',
  'session.wallets_changed',
  'session.checked',
  'screening.hit',
  'session.decision_requested',
] as const
export type WebhookMessageType = (typeof WEBHOOK_TYPES)[number]

/** A hit without the person's name and the listed name. */
export interface ToldHit {
  readonly id: string
  readonly check: string
  readonly list: string
  readonly subject: string
}

/** The session immediately after the event. */
export interface WebhookSnapshot {
  readonly state: SessionState
  readonly event: Pick<SessionEvent, 'sequence' | 'publicComment' | 'createdAtSeconds'> & {
    /** Actor of the change; omitted if nothing changed. */
    readonly actor?: string
  }
  /** Checks at that time; missing in messages queued by an older version. */
  readonly checks?: readonly { readonly name: string; readonly outcome: string }[]
  /** Undecided hits, only in `screening.hit`. */
  readonly openHits?: readonly ToldHit[]
}

export type WebhookOutcome =
  | { readonly state: 'delivered'; readonly status: number }
  | { readonly state: 'dead'; readonly status: number | null; readonly failure: string }
  | {
      readonly state: 'waiting'
      readonly status: number | null
      readonly failure: string
      readonly nextAttemptAtSeconds: number
    }

/** A module implements the formats of these services. */
export const VERIFICATION_SERVICES = ['sumsub', 'persona', 'veriff'] as const
export type VerificationServiceName = (typeof VERIFICATION_SERVICES)[number]
