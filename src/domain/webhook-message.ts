// What a webhook message is made of, and what became of an attempt to deliver it.
import type { SessionEvent, SessionState } from './session.ts'

/** Name of the provider whose sessions an outside service decides. */
export const WEBHOOK_PROVIDER = 'webhook'

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
