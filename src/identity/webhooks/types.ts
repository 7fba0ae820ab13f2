// What webhooks need of the store, as interfaces: the composition root passes the store's own tables in.
import type { SessionEvent, SessionState } from '../../domain/session.ts'

export interface WebhookEndpoint {
  readonly id: string
  readonly organizationId: string
  readonly url: string
  readonly sealedSecret: Uint8Array
  readonly previousSealedSecret: Uint8Array | null
  readonly previousUntilSeconds: number | null
}

export type WebhookMessageType =
  | 'session.created'
  | 'session.status_changed'
  | 'session.wallets_changed'
  | 'session.decision_requested'

/** One to send now. */
export interface ClaimedMessage {
  /** The same for every attempt: receivers tell repetitions by it. */
  readonly id: string
  readonly organizationId: string
  readonly endpointId: string
  readonly type: WebhookMessageType
  /** With this one. */
  readonly attempts: number
  /** The session right after the event. */
  readonly snapshot: { readonly state: SessionState; readonly event: SessionEvent }
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

export interface WebhookMessageStore {
  /** @param underWay how many the caller sends to an endpoint already. */
  claim(
    limit: number,
    claimSeconds: number,
    underWay: (endpointId: string) => number,
  ): Promise<readonly ClaimedMessage[]>
  settle(message: Pick<ClaimedMessage, 'organizationId' | 'id' | 'attempts'>, outcome: WebhookOutcome): Promise<boolean>
}

export interface WebhookEndpointStore {
  find(organizationId: string, id: string): Promise<WebhookEndpoint | null>
  findDecider(id: string): Promise<WebhookEndpoint | null>
  organizationsWithDecider(): Promise<readonly string[]>
}
