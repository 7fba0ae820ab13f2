// Delivery of webhooks: after the commit, signed, retried, and ended in a way that an operator can inspect and undo.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { SessionClosedError } from '../../../src/domain/session-errors.ts'
import { ATTEMPTS_MAX, delayAfter } from '../../../src/identity/webhooks/deliver.ts'
import { createDeliveryLoop } from '../../../src/identity/webhooks/delivery-loop.ts'
import { newWebhookSecret } from '../../../src/server/webhook-signature.ts'
import { MESSAGES_AT_ONCE } from '../../../src/store/webhooks/webhook-messages.ts'
import { markChecksMade } from '../../support/made-checks.ts'
import { evmWallet } from '../support.ts'
import { openWebhooks, startReceiver, verifies } from './support.ts'

let parts: Awaited<ReturnType<typeof openWebhooks>>
let { addEndpoint, clock, register, run, store } = {} as typeof parts
let receiver: ReturnType<typeof startReceiver>
let demo: string

beforeEach(async () => {
  parts = await openWebhooks()
  ;({ addEndpoint, clock, register, run, store } = parts)
  receiver = startReceiver()
  demo = await parts.createOrganization('demo')
})
afterEach(async () => {
  expect(parts.errors).toEqual([])
  await receiver.stop()
  await parts.remove()
})

const listed = async (state?: 'waiting' | 'delivered' | 'dead', organizationId = demo) =>
  (await store.webhookMessages.page(organizationId, state ? { state } : {}, { after: null, limit: 100 })).items
/** Adds an endpoint of the receiver, and registers sessions. @returns the endpoint */
const addMessages = async (count = 1) => {
  const endpoint = await addEndpoint(demo, receiver.url)
  for (let index = 0; index < count; index++) await register(demo)
  return endpoint
}
const respond = (status: number, headers = {}) =>
  receiver.answerWith(() => new Response('countersign-canary-answer', { status, headers }))
const neverRespond = () => receiver.answerWith(() => new Promise<never>(() => undefined))

describe('an event', () => {
  test('is signed and sent once, with the state of the session after the event', async () => {
    const { secret } = await addEndpoint(demo, receiver.url)
    const { session } = await register(demo, { wallet: evmWallet(1) })
    await parts.connect(demo, session.id, evmWallet(1))
    const target = { organizationId: demo, sessionId: session.id }
    await parts.changes.recordConsent({ ...target, version: 'v1', actor: 'person' })
    const comments = { publicComment: 'The picture is blurred.', privateComment: 'countersign-canary-note' }
    await parts.changes.changeStatus({ ...target, to: 'retry', actor: 'operator:ada', ...comments })
    await markChecksMade(store, demo, session.id)
    await parts.changes.changeStatus({ ...target, to: 'completed', actor: 'operator:ada', override: 'person' })
    expect(await run()).toBe(5)
    expect(await run()).toBe(0)

    const bodies = receiver.received
      .map(({ body }) => body)
      .sort((a, b) => Number(a.data['sequence']) - Number(b.data['sequence']))
    expect(bodies.map(({ type, data }) => [type, data['status'], data['sequence']])).toEqual([
      ['session.created', 'pending', 1],
      ['session.wallets_changed', 'pending', 2],
      ['session.status_changed', 'retry', 4],
      ['session.checked', 'retry', 4],
      ['session.status_changed', 'completed', 5],
    ])
    expect(bodies[0]).toEqual({
      type: 'session.created',
      timestamp: '2026-01-01T00:00:00.000Z',
      data: {
        sessionId: session.id,
        status: 'pending',
        verifiedWallets: [],
        unverifiedWallets: [],
        type: 'individual',
        environment: 'live',
        sequence: 1,
      },
    })
    expect(bodies[2]?.data['comment']).toBe('The picture is blurred.')
    expect(bodies[4]?.data).toMatchObject({
      completedAt: '2026-01-01T00:00:00.000Z',
      unverifiedWallets: [],
      verifiedWallets: [{ chain: 'ethereum' }],
    })
    expect(JSON.stringify(bodies)).not.toMatch(/canary|person_/)
    for (const message of receiver.received) {
      expect(verifies(message, secret, clock.unixSeconds())).toBe(true)
      expect(verifies(message, newWebhookSecret(), clock.unixSeconds())).toBe(false)
      expect(message.headers.get('content-type')).toBe('application/json')
    }
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(5)
    expect((await listed('delivered')).map(({ lastStatus }) => lastStatus)).toEqual([204, 204, 204, 204, 204])
  })

  test('is sent only to endpoints of its organization and environment', async () => {
    const other = await parts.createOrganization('other')
    const live = await addEndpoint(demo, `${receiver.url}/live`)
    await addEndpoint(demo, `${receiver.url}/test`, { environment: 'test' })
    await addEndpoint(other, `${receiver.url}/other`)
    await register(demo)
    expect(await run()).toBe(1)
    expect((await listed()).map(({ endpointId }) => endpointId)).toEqual([live.id])
    expect(await listed(undefined, other)).toEqual([])
  })

  test('is not sent if its change fails or is rolled back', async () => {
    const session = await parts.submit(demo)
    await addMessages(0)
    await expect(parts.evidence.putFields(session, { country: 'DE' })).rejects.toBeInstanceOf(SessionClosedError)
    await expect(
      store.transaction(async (tables) => {
        const target = { organizationId: demo, sessionId: session.id }
        await tables.sessions.changeStatus({ ...target, to: 'completed', actor: 'operator:ada', override: 'person' })
        throw new Error('rolled back')
      }),
    ).rejects.toThrow('rolled back')
    expect(await run()).toBe(0)
    expect(await listed()).toEqual([])
  })

  test('about evidence is not sent', async () => {
    const target = await parts.session(demo)
    await addMessages(0)
    await parts.evidence.putFields(target, { fullName: 'countersign-canary-jane' })
    await parts.evidence.eraseSession(target, 'operator:ada')
    expect(await run()).toBe(0)
  })
})

describe('a failed message', () => {
  test('is retried at growing intervals with the same id and body, and is dead after the last attempt', async () => {
    const { secret } = await addMessages()
    respond(500)
    for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt++) {
      expect(await run()).toBe(1)
      const [message] = await listed()
      const delaySeconds = delayAfter(attempt, () => 0.5)
      expect(message).toMatchObject({
        state: 'waiting',
        attempts: attempt,
        lastStatus: 500,
        lastFailure: 'the endpoint returned status 500',
        nextAttemptAtSeconds: clock.unixSeconds() + delaySeconds,
      })
      clock.advance(delaySeconds - 1)
      expect(await run()).toBe(0)
      clock.advance(1)
    }
    expect(await run()).toBe(1)
    expect(await listed()).toMatchObject([{ state: 'dead', attempts: ATTEMPTS_MAX }])
    expect(parts.dead).toEqual((await listed()).map(({ id }) => id))
    clock.advance(86_400)
    expect(await run()).toBe(0)
    expect(receiver.received.length).toBe(ATTEMPTS_MAX)
    expect(new Set(receiver.received.map(({ id, text }) => `${id} ${text}`)).size).toBe(1)
    // Each attempt is signed with its own time.
    const times = receiver.received.map(({ headers }) => headers.get('webhook-timestamp'))
    expect(new Set(times).size).toBe(ATTEMPTS_MAX)
    const first = receiver.received[0]
    expect(verifies(first!, secret, Number(first!.headers.get('webhook-timestamp')))).toBe(true)
    expect(JSON.stringify(await listed())).not.toContain('canary')
  })

  test('can be resent alone or with all dead messages, but only by its own organization', async () => {
    const other = await parts.createOrganization('other')
    const { id: endpointId } = await addMessages(2)
    respond(410)
    expect(await run()).toBe(2)
    const dead = await listed('dead')
    expect(dead.map(({ lastFailure }) => lastFailure)).toEqual(Array(2).fill('the endpoint returned status 410'))
    respond(200)
    const { webhookMessages } = store
    expect(await webhookMessages.resend(other, dead[0]!.id)).toBe(0)
    expect(await webhookMessages.resend(other, null)).toBe(0)
    expect(await run()).toBe(0)
    expect(await webhookMessages.resend(demo, dead[0]!.id)).toBe(1)
    expect(await run()).toBe(1)
    expect(await webhookMessages.resend(demo, null)).toBe(1)
    expect(await run()).toBe(1)
    expect((await listed('delivered')).length).toBe(2)
    // A delivered message can be resent too.
    expect(await webhookMessages.resend(demo, dead[0]!.id)).toBe(1)
    expect(await run()).toBe(1)
    await store.webhookEndpoints.remove(demo, endpointId)
    expect(await webhookMessages.resend(demo, dead[0]!.id)).toBe(0)
    clock.advance(8 * 86_400)
    expect(await webhookMessages.sweep()).toBe(2)
    expect(await listed()).toEqual([])
  })

  test('waits for the Retry-After of the receiver, but at most an hour', async () => {
    await addMessages()
    for (const [retryAfter, waitSeconds] of [
      ['120', 120],
      ['86400', 3_600],
      ['1', 80],
    ] as const) {
      respond(503, { 'retry-after': retryAfter })
      await run()
      const [message] = await listed()
      expect((message?.nextAttemptAtSeconds ?? 0) - clock.unixSeconds()).toBe(waitSeconds)
      clock.advance(waitSeconds)
    }
  })

  test('is retried after a redirect, a timeout or a forbidden address', async () => {
    const { id } = await addMessages()
    const failures: unknown[] = []
    for (const [answer, seconds] of [
      [() => respond(302, { location: receiver.url }), 5],
      [neverRespond, 20],
    ] as const) {
      answer()
      await run()
      failures.push((await listed())[0]?.lastFailure)
      clock.advance(seconds)
    }
    expect(failures).toEqual(['the endpoint redirects, but redirects are not followed', 'the request timed out'])
    expect(receiver.received.length).toBe(2)

    await store.webhookEndpoints.remove(demo, id)
    await addEndpoint(demo, 'https://10.0.0.1/hook')
    await register(demo)
    expect(await run()).toBe(1)
    expect((await listed('waiting'))[0]?.lastFailure).toBe('the URL resolves to an address that is not allowed')
  })

  test('is resent, or ended with its endpoint, in batches', async () => {
    const { id } = await addMessages()
    const [first] = await store.database.query<Record<string, string>>('SELECT * FROM webhook_messages')
    const names = Object.keys(first ?? {})
    await store.database.execute(
      `INSERT INTO webhook_messages (${names.join(', ')})
       WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
       SELECT ${names.map((name) => (name === 'id' ? "id || '-' || n" : name)).join(', ')} FROM numbers, webhook_messages`,
      [MESSAGES_AT_ONCE],
    )
    const count = async (state: string): Promise<number> => {
      const counting = 'SELECT COUNT(*) AS count FROM webhook_messages WHERE state = ?'
      return (await store.database.query<{ count: number }>(counting, [state]))[0]?.count ?? 0
    }
    await store.database.execute("UPDATE webhook_messages SET state = 'dead', settled_at_seconds = 1")
    expect(await store.webhookMessages.resend(demo, null)).toBe(MESSAGES_AT_ONCE)
    expect(await store.webhookMessages.resend(demo, null)).toBe(1)
    expect(await store.webhookEndpoints.remove(demo, id)).toBe(true)
    expect([await count('dead'), await count('waiting')]).toEqual([MESSAGES_AT_ONCE, 1])
    expect(await run()).toBe(0)
    expect(await store.webhookMessages.sweep()).toBe(1)
    expect([await count('dead'), await count('waiting')]).toEqual([MESSAGES_AT_ONCE + 1, 0])
  })

  test('is dead once its endpoint is removed', async () => {
    const { id } = await addMessages()
    expect(await store.webhookEndpoints.remove(demo, id)).toBe(true)
    expect(await store.webhookEndpoints.remove(demo, id)).toBe(false)
    expect(await run()).toBe(0)
    expect(await listed()).toMatchObject([{ state: 'dead', lastFailure: 'the endpoint was removed' }])
    await register(demo)
    expect((await listed()).length).toBe(1)
  })
})

describe('a paused endpoint', () => {
  test('receives no messages until it resumes, and then all of them', async () => {
    const { id } = await addMessages(0)
    const other = await addEndpoint(demo, `${receiver.url}/other`)
    await register(demo)
    expect(await store.webhookEndpoints.setPaused(demo, id, true)).toBe(true)
    const pausedAtSeconds = clock.unixSeconds()
    clock.advance(40 * 86_400)
    await store.webhookEndpoints.setPaused(demo, id, true)
    expect(await store.webhookEndpoints.find(demo, id)).toMatchObject({ pausedAtSeconds })
    await register(demo)
    expect(await run()).toBe(2)
    expect(receiver.received.length).toBe(2)
    expect((await listed('delivered')).map(({ endpointId }) => endpointId)).toEqual([other.id, other.id])
    await store.webhookMessages.sweep()
    expect((await listed('waiting')).map(({ endpointId, attempts }) => [endpointId, attempts])).toEqual([
      [id, 0],
      [id, 0],
    ])
    // Its messages do not count as late.
    expect(await store.webhookMessages.queueState()).toEqual({ waiting: 0, nextAttemptAtSeconds: null })

    await store.webhookEndpoints.setPaused(demo, id, false)
    expect(await store.webhookMessages.queueState()).toMatchObject({ waiting: 2 })
    expect(await run()).toBe(2)
    expect(new Set(receiver.received.map((message) => message.id)).size).toBe(4)
    expect(await listed('waiting')).toEqual([])
  })

  test('that was paused after its messages were claimed receives no messages', async () => {
    const { id } = await addMessages()
    const [message] = await store.webhookMessages.claim(10, 60)
    if (message === undefined) throw new Error('nothing to send')
    await store.webhookEndpoints.setPaused(demo, id, true)
    const outcome = await parts.deliver(message)
    expect(outcome).toMatchObject({ state: 'waiting', nextAttemptAtSeconds: clock.unixSeconds() })
    expect(await store.webhookMessages.settle(message, outcome)).toBe(true)
    await store.webhookEndpoints.setPaused(demo, id, false)
    expect(receiver.received).toEqual([])
    expect(await run()).toBe(1)
    expect(receiver.received.length).toBe(1)
  })
})

describe('the secret of an endpoint', () => {
  test('is replaced with an overlap in which both secrets sign', async () => {
    const { id, secret } = await addMessages()
    const next = newWebhookSecret()
    const { sealed: sealedSecret } = await parts.keys.seal(demo, 'webhook secret', id, next)
    const previousUntilSeconds = clock.unixSeconds() + 3_600
    const rotation = { organizationId: demo, id, sealedSecret, previousUntilSeconds }
    expect(await store.webhookEndpoints.rotateSecret(rotation)).toBe(true)
    await run()
    clock.advance(3_600)
    await register(demo)
    await run()
    const [during, after] = receiver.received
    expect([secret, next].map((one) => verifies(during!, one, clock.unixSeconds() - 3_600))).toEqual([true, true])
    expect([secret, next].map((one) => verifies(after!, one, clock.unixSeconds()))).toEqual([false, true])
  })

  test('is stored only encrypted', async () => {
    const { secret } = await addMessages()
    await run()
    for (const text of [Buffer.from(secret), Buffer.from(Buffer.from(secret).toString('base64'))]) {
      expect(parts.everything().includes(text)).toBe(false)
    }
  })
})

describe('delivery loops', () => {
  test('share the messages without sending any message twice', async () => {
    await addEndpoint(demo, `${receiver.url}/two`)
    await addMessages(6)
    const [one, two] = [parts.loop(), parts.loop()]
    let total = 0
    for (let round = 0; total < 12 && round < 12; round++) {
      total += (await Promise.all([one.run(), two.run(), one.run()])).reduce((sum, count) => sum + count, 0)
    }
    expect(receiver.received.length).toBe(12)
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(12)
  })

  test('continue with other endpoints while one receiver does not respond', async () => {
    const other = await parts.createOrganization('other')
    const quick = startReceiver()
    await addEndpoint(other, quick.url)
    neverRespond()
    await addMessages(12)
    await register(other)
    // Eight slots for the silent receiver, and one for the other.
    expect(await run()).toBe(9)
    expect(quick.received.length).toBe(1)
    await quick.stop()
  })

  test('continue with another organization while no endpoint of the first organization responds', async () => {
    const other = await parts.createOrganization('other')
    for (let index = 0; index < 8; index++) await addEndpoint(demo, `${receiver.url}/silent/${index}`)
    for (let index = 0; index < 5; index++) await register(demo)
    const silence = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    receiver.answerWith(async () => {
      if (receiver.received.length === 24) arrived.resolve()
      await silence.promise
      return new Response(null, { status: 204 })
    })
    const sending = parts.loop()
    const first = sending.run()
    await arrived.promise
    const quick = startReceiver()
    await addEndpoint(other, quick.url)
    await register(other)
    expect(await sending.run()).toBe(1)
    expect([quick.received.length, receiver.received.length]).toEqual([1, 24])
    silence.resolve()
    expect(await first).toBe(24)
    await sending.close()
    await quick.stop()
  })

  test('send a message again if the process that claimed it has ended', async () => {
    await addMessages()
    expect((await store.webhookMessages.claim(10, 60)).length).toBe(1)
    expect(await run()).toBe(0)
    clock.advance(60)
    expect(await run()).toBe(1)
    expect((await listed())[0]).toMatchObject({ state: 'delivered', attempts: 2 })
  })

  test('count only the failure of the newest attempt, and a delivery by any attempt', async () => {
    await addMessages()
    const [late] = await store.webhookMessages.claim(10, 60)
    clock.advance(60)
    const [newest] = await store.webhookMessages.claim(10, 60)
    if (late === undefined || newest === undefined) throw new Error('nothing to send')
    // The first attempt ends after its claim expired: the message belongs to the second attempt.
    const failures = [
      { state: 'dead', status: 410, failure: 'it is gone' },
      { state: 'waiting', status: 500, failure: 'late', nextAttemptAtSeconds: clock.unixSeconds() },
    ] as const
    for (const failure of failures) expect(await store.webhookMessages.settle(late, failure)).toBe(false)
    expect((await listed())[0]).toMatchObject({ state: 'waiting', attempts: 2, lastFailure: null })
    expect(await run()).toBe(0)
    expect(await store.webhookMessages.settle(late, { state: 'delivered', status: 200 })).toBe(true)
    expect(await store.webhookMessages.settle(newest, failures[0])).toBe(false)
    expect((await listed())[0]).toMatchObject({ state: 'delivered', lastStatus: 200 })
  })

  test('send the whole queue after one start', async () => {
    await addMessages(20)
    const all = Promise.withResolvers<void>()
    receiver.answerWith(() => {
      if (receiver.received.length === 20) all.resolve()
      return new Response(null, { status: 200 })
    })
    const sending = parts.loop()
    // The interval never elapses.
    sending.start(3_600_000)
    await sending.run()
    await all.promise
    await sending.close()
    expect((await listed('delivered')).length).toBe(20)
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(20)
  })

  test('do not count an attempt whose message was settled by another process', async () => {
    await addMessages()
    const reported: unknown[] = []
    const loopOf = (settles: boolean) =>
      createDeliveryLoop({
        messages: { ...store.webhookMessages, settle: async () => settles },
        deliver: async () => ({ state: 'dead', status: 410, failure: 'gone' }),
        onSettled: (state) => reported.push(state),
        onDead: (_message, failure) => reported.push(failure),
        onError: (error) => reported.push(error),
      })
    expect(await loopOf(false).run()).toBe(1)
    expect(reported).toEqual([])
    clock.advance(61)
    expect(await loopOf(true).run()).toBe(1)
    expect(reported).toEqual(['dead', 'gone'])
  })

  test('settle the messages in flight when they close, and start no other messages', async () => {
    await addMessages()
    const hold = Promise.withResolvers<Response>()
    const arrived = Promise.withResolvers<void>()
    receiver.answerWith(() => {
      arrived.resolve()
      return hold.promise
    })
    const sending = parts.loop()
    const run = sending.run()
    await arrived.promise
    const closing = sending.close()
    hold.resolve(new Response(null, { status: 200 }))
    await Promise.all([run, closing])
    expect((await listed())[0]?.state).toBe('delivered')
    await register(demo)
    expect(await sending.run()).toBe(0)
  })
})

test('delays increase to half a day, with jitter', () => {
  const middle = Array.from({ length: 11 }, (_, index) => delayAfter(index + 1, () => 0.5))
  expect(middle).toEqual([5, 20, 80, 320, 1_280, 5_120, 20_480, 43_200, 43_200, 43_200, 43_200])
  expect(middle.reduce((sum, seconds) => sum + seconds, 0) / 86_400).toBeGreaterThan(2)
  expect([delayAfter(4, () => 0), delayAfter(4, () => 1)]).toEqual([240, 400])
})
