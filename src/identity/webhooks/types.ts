// Store interfaces of webhooks; the composition root passes the store's own tables.
import type {
  WebhookEndpoint,
  WebhookMessageType,
  WebhookOutcome,
  WebhookSnapshot,
} from '../../domain/webhook-message.ts'

export interface ClaimedMessage {
  /** The same in every attempt. */
  readonly id: string
  readonly organizationId: string
  readonly endpointId: string
  readonly type: WebhookMessageType
  /** Number of attempts, including this one. */
  readonly attempts: number
  readonly snapshot: WebhookSnapshot
}

export interface WebhookMessageStore {
  /** @param underWay returns the number of messages that the caller is sending for an endpoint or organization id */
  claim(limit: number, claimSeconds: number, underWay: (id: string) => number): Promise<readonly ClaimedMessage[]>
  settle(message: Pick<ClaimedMessage, 'organizationId' | 'id' | 'attempts'>, outcome: WebhookOutcome): Promise<boolean>
}

export interface WebhookEndpointStore {
  find(organizationId: string, id: string): Promise<WebhookEndpoint | null>
  findDecider(id: string): Promise<WebhookEndpoint | null>
  organizationsWithDecider(): Promise<readonly string[]>
}
