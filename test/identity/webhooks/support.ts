// Webhooks with a real store and a real receiver on this machine, with a manual clock.

import { createWebhookParts } from '../../../src/compose/webhook-service.ts'
import type { SessionState } from '../../../src/domain/session.ts'
import { createUrlGuard } from '../../../src/facts/reachable.ts'
import { createSessionChanges } from '../../../src/identity/sessions/changes.ts'
import { createDeliver } from '../../../src/identity/webhooks/deliver.ts'
import { createDeliveryLoop } from '../../../src/identity/webhooks/delivery-loop.ts'
import { createEndpointSecrets } from '../../../src/identity/webhooks/secrets.ts'
import { createServiceEndpoint } from '../../../src/modules/providers/service-endpoint.ts'
import { createDeadlines } from '../../../src/server/deadline.ts'
import { createRefusalPacer } from '../../../src/server/event-loop-turns.ts'
import { createOutboundPost } from '../../../src/server/outbound-post.ts'
import { toProblem } from '../../../src/server/problem.ts'
import { createRequestIds } from '../../../src/server/request-id.ts'
import { createSignedGate } from '../../../src/server/signed-gate.ts'
import { newWebhookSecret, verifyWebhook } from '../../../src/server/webhook-signature.ts'
import { newWebhookEndpointId } from '../../../src/store/webhooks/webhook-endpoints.ts'
import { openTemporaryStore } from '../../store/temporary-store.ts'
import { openEvidence } from '../evidence/support.ts'
import { evmWallet } from '../support.ts'

export interface Received {
  readonly id: string
  readonly headers: Headers
  readonly text: string
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: Record<string, unknown> }
}

/** A receiver that records each message and returns 204 or the response of `answerWith`. */
export const startReceiver = () => {
  const received: Received[] = []
  let answer: () => Response | Promise<Response> = () => new Response(null, { status: 204 })
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const text = await request.text()
      received.push({
        id: request.headers.get('webhook-id') ?? '',
        headers: request.headers,
        text,
        body: JSON.parse(text),
      })
      return answer()
    },
  })
  return {
    received,
    url: `http://127.0.0.1:${server.port}/hook`,
    answerWith: (how: typeof answer) => {
      answer = how
    },
    stop: () => server.stop(true),
  }
}

export const openWebhooks = async (open = openTemporaryStore) => {
  const parts = await openEvidence({}, open)
  const { store, keys, clock } = parts
  const errors: unknown[] = []
  const dead: string[] = []
  const deliver = createDeliver({
    endpoints: store.webhookEndpoints,
    secretsOf: createEndpointSecrets(keys, clock),
    clock,
    random: () => 0.5,
    onError: (error) => void errors.push(error),
    post: createOutboundPost({ timeoutMs: 150, guard: createUrlGuard('loopback') }),
  })
  const loop = (options: { readonly concurrencyMax?: number } = {}) =>
    createDeliveryLoop({
      messages: store.webhookMessages,
      onError: (error) => void errors.push(error),
      onDead: ({ id }) => void dead.push(id),
      deliver,
      ...options,
    })

  const addEndpoint = async (
    organizationId: string,
    url: string,
    { purpose = 'events' as 'events' | 'decisions', environment = 'live' as 'live' | 'test' } = {},
  ) => {
    const id = newWebhookEndpointId()
    const secret = newWebhookSecret()
    const { sealed: sealedSecret } = await keys.seal(organizationId, 'webhook secret', id, secret)
    await store.webhookEndpoints.add({ id, organizationId, url, environment, purpose, sealedSecret })
    return { id, secret }
  }

  /** Submits a session; a session of an external decider has all required evidence. */
  const submit = async (organizationId: string, provider = 'manual') => {
    const { session } = await parts.register(organizationId, { provider })
    if (provider === 'webhook') {
      await parts.connect(organizationId, session.id, evmWallet(1))
      await parts.evidence.putFields(session, { fullName: 'Jane', birthDate: '1980-01-01', country: 'DE' })
    }
    return (await parts.move(organizationId, session.id, 'submitted')).session
  }

  return { ...parts, errors, dead, deliver, loop, run: loop().run, addEndpoint, submit }
}

/** The webhook parts of the service. `notified` are the states that followers of a session receive. */
export const openWebhookService = async (open = openTemporaryStore) => {
  const parts = await openWebhooks(open)
  const { store, keys, evidence, clock } = parts
  const reported: unknown[] = []
  const warned: string[] = []
  const notified: SessionState[] = []
  const deadlines = createDeadlines({ clock, durationMs: 25_000 })
  const webhooks = createWebhookParts({
    store,
    keys,
    evidence,
    clock,
    reach: 'loopback',
    prepareRequireCurrent: async () => async () => undefined,
    createServiceEndpoint,
    log: { warn: (message) => void warned.push(message) },
    gate: createSignedGate({
      deadlines,
      clock,
      requestIds: createRequestIds('test'),
      metrics: { route: () => () => undefined, recordError: () => undefined },
      clientAddress: (peer) => peer,
      pacer: createRefusalPacer(),
      report: (error) => {
        if (toProblem(error).status >= 500) reported.push(error)
      },
    }),
    changesOver: (changeStatus) =>
      createSessionChanges({
        sessions: { ...store.sessions, changeStatus },
        wallets: store.sessionWallets,
        listener: { stateChanged: (state) => void notified.push(state), standingChanged: () => undefined },
      }),
  })
  const demo = await parts.createOrganization('demo')
  const stop = async (): Promise<void> => {
    deadlines.stop()
    await webhooks.leaderTask.stop()
    await parts.remove()
  }
  return { parts, webhooks, demo, reported, warned, notified, stop }
}

export const verifies = (message: Received, secret: Uint8Array, nowSeconds: number): boolean => {
  try {
    return verifyWebhook([secret], message.headers, message.text, nowSeconds).id === message.id
  } catch {
    // An invalid signature is a result, not a failure.
    return false
  }
}
