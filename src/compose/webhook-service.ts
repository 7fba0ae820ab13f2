// Builds webhooks in both directions: sent messages, and endpoints for external deciders.

import type { Lead } from '../cluster/leader.ts'
import type { Reach } from '../domain/list.ts'
import { createUrlGuard } from '../facts/reachable.ts'
import type { OrganizationKeys } from '../identity/evidence/organization-keys.ts'
import type { EvidenceService } from '../identity/evidence-types.ts'
import type { createSessionChanges } from '../identity/sessions/changes.ts'
import { createDeliver } from '../identity/webhooks/deliver.ts'
import { createDeliveryLoop, type DeliveryLoop } from '../identity/webhooks/delivery-loop.ts'
import { type CreateServiceEndpoint, createProviderEndpoints } from '../identity/webhooks/provider-endpoints.ts'
import { createEndpointSecrets } from '../identity/webhooks/secrets.ts'
import type { Clock } from '../lib/time.ts'
import { createOutboundPost } from '../server/outbound-post.ts'
import type { SignedGate } from '../server/signed-gate.ts'
import { type PrepareRequireCurrent, spendAndDecide } from '../store/sessions/provider-results.ts'
import type { Store } from '../store/store.ts'
import type { IdentityMetrics } from '../telemetry/identity-metrics.ts'
import type { Logger } from '../telemetry/log.ts'

interface WebhookPartsDependencies {
  readonly store: Store
  readonly keys: OrganizationKeys
  readonly evidence: EvidenceService
  readonly gate: SignedGate
  /** Session changes that use the given `changeStatus` and are announced as usual. */
  readonly changesOver: (
    changeStatus: Parameters<typeof createSessionChanges>[0]['sessions']['changeStatus'],
  ) => ReturnType<typeof createSessionChanges>
  readonly reach: Reach
  readonly prepareRequireCurrent: PrepareRequireCurrent
  readonly createServiceEndpoint: CreateServiceEndpoint | null
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
}

const LOOK_INTERVAL_MS = 500
/** Maximum age of the queue length in metrics. */
const QUEUE_READ_INTERVAL_MS = 5_000

export const createWebhookParts = (dependencies: WebhookPartsDependencies) => {
  const { store, keys, evidence, gate, changesOver, reach, clock, log } = dependencies
  const secretsOf = createEndpointSecrets(keys, clock)
  const deliveries = { delivered: 0, retried: 0, dead: 0 }
  let webhookQueue: IdentityMetrics['webhookQueue'] = null
  let reading: Promise<void> = Promise.resolve()
  let timer: ReturnType<typeof setInterval> | undefined
  let loop: DeliveryLoop | undefined

  const readQueue = async (): Promise<void> => {
    try {
      const { waiting, nextAttemptAtSeconds } = await store.webhookMessages.queueState()
      const overdueSeconds = Math.max(0, clock.unixSeconds() - (nextAttemptAtSeconds ?? Number.POSITIVE_INFINITY))
      webhookQueue = { waiting, overdueSeconds }
    } catch (error) {
      log.warn('the webhook queue could not be read for metrics', { error })
    }
  }
  const readQueueInTurn = (): void => {
    reading = reading.then(readQueue)
  }

  const deliver = createDeliver({
    secretsOf,
    clock,
    random: Math.random,
    endpoints: store.webhookEndpoints,
    post: createOutboundPost({ guard: createUrlGuard(reach) }),
    onError: (error) => log.warn('a webhook message could not be created; will retry', { error }),
  })

  const createLoop = (lead: Lead): DeliveryLoop =>
    createDeliveryLoop({
      onSettled: (state) => {
        deliveries[state === 'waiting' ? 'retried' : state] += 1
      },
      messages: {
        settle: store.webhookMessages.settle,
        claim: async (limit, claimSeconds, underWay) =>
          lead.leads() ? store.webhookMessages.claim(limit, claimSeconds, underWay, lead.holds) : [],
      },
      onError: (error) => log.warn('a webhook result could not be stored; will resend', { error }),
      onDead: ({ id, endpointId }, failure) =>
        log.warn('a webhook message could not be delivered and will not be retried', { id, endpointId, failure }),
      deliver,
    })

  return {
    endpoints: createProviderEndpoints(
      {
        gate,
        secretsOf,
        evidence,
        endpoints: store.webhookEndpoints,
        clock,
        findSession: store.sessions.find,
        submittedTimes: store.sessions.findSubmittedTimes,
        onLateDecision: (session, status) =>
          log.warn('a verification service decided a session that was already decided: review it', { session, status }),
        spend: store.providerResults.spend,
        decide: async (message, change) => {
          const { changeStatus, isRepeated } = spendAndDecide(store, message, dependencies.prepareRequireCurrent)
          const state = await changesOver(changeStatus).changeStatus(change)
          return isRepeated() ? null : state
        },
      },
      dependencies.createServiceEndpoint,
    ),
    /** Attempts since startup, and the queue length, which only the sending process reads. */
    metrics: (): Pick<IdentityMetrics, 'deliveries' | 'webhookQueue'> => ({ deliveries, webhookQueue }),
    /** Sends waiting messages. Stopping it waits for messages in flight. */
    leaderTask: {
      name: 'webhooks',
      start: (lead: Lead) => {
        loop = createLoop(lead)
        loop.start(LOOK_INTERVAL_MS)
        readQueueInTurn()
        timer = setInterval(readQueueInTurn, QUEUE_READ_INTERVAL_MS)
        timer.unref()
      },
      stop: async () => {
        clearInterval(timer)
        await Promise.all([loop?.close(), reading])
        loop = undefined
        webhookQueue = null
      },
    },
  }
}
