// The interfaces of the store that webhooks need; the composition root passes the store's own tables.
import type {
  WebhookEndpoint,
  WebhookMessageType,
  WebhookOutcome,
  WebhookSnapshot,
} from '../../domain/webhook-message.ts'

/** A message to send now. */
export interface ClaimedMessage {
  /** The same in every attempt: receivers recognise repeated messages by it. */
  readonly id: string
  readonly organizationId: string
  readonly endpointId: string
  readonly type: WebhookMessageType
  /** Number of attempts, this one included. */
  readonly attempts: number
  readonly snapshot: WebhookSnapshot
}

export interface WebhookMessageStore {
  /** @param underWay the number of messages that the caller is already sending, by the id of an endpoint or organization */
  claim(limit: number, claimSeconds: number, underWay: (id: string) => number): Promise<readonly ClaimedMessage[]>
  settle(message: Pick<ClaimedMessage, 'organizationId' | 'id' | 'attempts'>, outcome: WebhookOutcome): Promise<boolean>
}

export interface WebhookEndpointStore {
  find(organizationId: string, id: string): Promise<WebhookEndpoint | null>
  findDecider(id: string): Promise<WebhookEndpoint | null>
  organizationsWithDecider(): Promise<readonly string[]>
}
