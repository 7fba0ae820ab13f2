// One attempt to deliver a message, and what comes of it: done, again later, or never. Receivers answer 2xx once they have
// it; anything else counts as not received. Source: Standard Webhooks 1.0.0, "Delivery" and "Retries".
import type { Clock } from '../../domain/time.ts'
import { type OutboundAnswer, OutboundFailedError, type OutboundPost } from '../../http/outbound-post.ts'
import { signWebhook } from '../../http/webhook-signature.ts'
import { messageBody } from './message.ts'
import type { EndpointSecrets } from './secrets.ts'
import type { ClaimedMessage, WebhookEndpointStore, WebhookOutcome } from './types.ts'

export interface DeliverDependencies {
  readonly endpoints: Pick<WebhookEndpointStore, 'find'>
  readonly secretsOf: EndpointSecrets
  readonly post: OutboundPost
  readonly clock: Clock
  /** 0 to 1, for the spread of attempts. */
  readonly random: () => number
  /** Of failures that are ours and not the receiver's. */
  readonly onError: (error: unknown) => void
}

export type Deliver = (message: ClaimedMessage) => Promise<WebhookOutcome>

/** Over about two days. */
export const ATTEMPTS_MAX = 12
const FIRST_DELAY_SECONDS = 5
const DELAY_FACTOR = 4
const LONGEST_DELAY_SECONDS = 12 * 3_600
/** What a receiver that asks for patience gets at most. */
const RETRY_AFTER_MAX_SECONDS = 3_600
const GONE = 410

/**
 * Seconds from one attempt to the next: 5, 20, 80 … up to 12 hours, each a quarter more or less, so that a receiver that
 * comes back does not get everything at once.
 */
export const delayAfter = (attempts: number, random: () => number): number => {
  const delaySeconds = Math.min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * DELAY_FACTOR ** (attempts - 1))
  return Math.ceil(delaySeconds * (0.75 + random() / 2))
}

export const createDeliver = (dependencies: DeliverDependencies): Deliver => {
  const { endpoints, secretsOf, post, clock, random, onError } = dependencies

  const failed = (
    { attempts }: ClaimedMessage,
    failure: string,
    { status, retryAfterSeconds }: { readonly status: number | null; readonly retryAfterSeconds: number | null },
  ): WebhookOutcome => {
    if (attempts >= ATTEMPTS_MAX || status === GONE) return { state: 'dead', status, failure }
    const delaySeconds = Math.max(
      delayAfter(attempts, random),
      Math.min(RETRY_AFTER_MAX_SECONDS, retryAfterSeconds ?? 0),
    )
    return { state: 'waiting', status, failure, nextAttemptAtSeconds: clock.unixSeconds() + delaySeconds }
  }

  const send = async (message: ClaimedMessage): Promise<OutboundAnswer | null> => {
    const endpoint = await endpoints.find(message.organizationId, message.endpointId)
    if (endpoint === null) return null
    const body = messageBody(message)
    const signed = signWebhook(await secretsOf(endpoint), {
      id: message.id,
      body,
      timestampSeconds: clock.unixSeconds(),
    })
    return post(endpoint.url, {
      body,
      headers: { ...signed, 'content-type': 'application/json', 'user-agent': 'countersign-webhooks' },
    })
  }

  const NO_ANSWER = { status: null, retryAfterSeconds: null }

  return async (message) => {
    try {
      const answer = await send(message)
      if (answer === null) return { state: 'dead', status: null, failure: 'the endpoint was removed' }
      const { status } = answer
      if (status >= 200 && status < 300) return { state: 'delivered', status }
      const redirect = status >= 300 && status < 400
      return failed(message, redirect ? 'it redirects, and no redirect is followed' : `it answered ${status}`, answer)
    } catch (error) {
      if (error instanceof OutboundFailedError) return failed(message, error.detail, NO_ANSWER)
      onError(error)
      return failed(message, 'the message could not be made', NO_ANSWER)
    }
  }
}
