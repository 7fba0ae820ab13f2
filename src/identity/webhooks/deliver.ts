// Makes one delivery attempt and decides the next step. Only a 2xx status confirms receipt. Source: Standard Webhooks
// 1.0.0, "Delivery" and "Retries".

import type { WebhookOutcome } from '../../domain/webhook-message.ts'
import type { Clock } from '../../lib/time.ts'
import { type OutboundAnswer, OutboundFailedError, type OutboundPost } from '../../server/outbound-post.ts'
import { signWebhook } from '../../server/webhook-signature.ts'
import { type ClaimedMessage, messageBody, type WebhookEndpointStore } from './message.ts'
import type { EndpointSecrets } from './secrets.ts'

export interface DeliverDependencies {
  readonly endpoints: Pick<WebhookEndpointStore, 'find'>
  readonly secretsOf: EndpointSecrets
  readonly post: OutboundPost
  readonly clock: Clock
  /** Returns a number from 0 to 1, which spreads the attempts. */
  readonly random: () => number
  /** Called for internal failures, not for failures of the receiver. */
  readonly onError: (error: unknown) => void
}

export type Deliver = (message: ClaimedMessage) => Promise<WebhookOutcome>

/** Maximum attempts: all delays add up to about two days. */
export const ATTEMPTS_MAX = 12
const FIRST_DELAY_SECONDS = 5
const DELAY_FACTOR = 4
const LONGEST_DELAY_SECONDS = 12 * 3_600
const RETRY_AFTER_MAX_SECONDS = 3_600
const GONE = 410

/** Returns a delay of 5, 20, 80 … seconds up to 12 hours, varied by up to a quarter to spread the load. */
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

  const send = async (message: ClaimedMessage): Promise<OutboundAnswer | 'removed' | 'paused'> => {
    const endpoint = await endpoints.find(message.organizationId, message.endpointId)
    if (endpoint === null) return 'removed'
    if (endpoint.pausedAtSeconds !== null) return 'paused'
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
      if (answer === 'removed') return { state: 'dead', status: null, failure: 'the endpoint was removed' }
      if (answer === 'paused') {
        // Paused since the claim: the message is due as soon as the endpoint resumes.
        const nextAttemptAtSeconds = clock.unixSeconds()
        return { state: 'waiting', status: null, failure: 'the endpoint was paused', nextAttemptAtSeconds }
      }
      const { status } = answer
      if (status >= 200 && status < 300) return { state: 'delivered', status }
      const redirect = status >= 300 && status < 400
      return failed(
        message,
        redirect ? 'the endpoint redirects, but redirects are not followed' : `the endpoint returned status ${status}`,
        answer,
      )
    } catch (error) {
      if (error instanceof OutboundFailedError) return failed(message, error.detail, NO_ANSWER)
      onError(error)
      return failed(message, 'could not create the message', NO_ANSWER)
    }
  }
}
