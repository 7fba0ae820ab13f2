// The event stream of the identity API (B3): its framing, events, clients and limits. Keep-alives, key checks and slow
// readers: test/identity/stream-hub.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { EventSource } from 'eventsource'
import { type RunningService, startService } from '../service/start-service.ts'
import { until as waitUntil } from '../support/until.ts'
import { type Caller, createCaller, decide, expectProblem, type StatusObject, walletOf } from './identity-caller.ts'

const OUTCOME = 'countersign-sandbox-outcome'

let service: RunningService
let live: Caller
let sandbox: Caller

beforeAll(async () => {
  service = await startService({
    environment: { COUNTERSIGN_WORKERS: '1', COUNTERSIGN_STREAMS_MAX: '30', COUNTERSIGN_STREAMS_PER_KEY_MAX: '20' },
  })
  live = createCaller(service, service.quickstart['IDENTITY_API_KEY'] ?? '')
  sandbox = createCaller(service, service.quickstart['IDENTITY_TEST_API_KEY'] ?? '')
})
afterAll(async () => {
  await service.stop()
})

const pathOf = (sessionId: string, type = 'individual'): string => `/api/v1/status/realtime/${type}/${sessionId}`

/** Waits until the metrics show this number of open streams. */
const openStreamsBecome = (count: number): Promise<void> =>
  waitUntil(async () =>
    (await (await fetch(`${live.base}/metrics`)).text()).includes(`\ncountersign_open_streams ${count}\n`),
  )

/** Opens a stream; `until` returns its text once it contains the part. */
const follow = async (caller: Caller, sessionId: string, headers: Readonly<Record<string, string>> = {}) => {
  const controller = new AbortController()
  const response = await fetch(`${caller.base}${pathOf(sessionId)}`, {
    headers: { authorization: `Bearer ${caller.key}`, ...headers },
    signal: controller.signal,
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''
  return {
    response,
    until: async (part: string): Promise<string> => {
      while (!text.includes(part)) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`ended after ${text}`)
        text += decoder.decode(value)
      }
      return text
    },
    toEnd: async (): Promise<string> => {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return text
        text += decoder.decode(value)
      }
    },
    close: () => controller.abort(),
  }
}

const eventsOf = (text: string): { id: number; status: StatusObject }[] =>
  [...text.matchAll(/id: (\d+)\ndata: (.*)\n\n/g)].map(([, id, data]) => ({
    id: Number(id),
    status: JSON.parse(data ?? '') as StatusObject,
  }))

describe('the framing', () => {
  test('is a retry line, and for each event an id, one data line and a blank line', async () => {
    const { sessionId } = await live.registered()
    const stream = await follow(live, sessionId)
    const pending = JSON.stringify(await live.statusOf(sessionId))
    expect(await stream.until('"status":"pending"')).toBe(`retry: 3000\nid: 1\ndata: ${pending}\n\n`)
    await decide(service, sessionId, 'completed', '--override')
    const completed = JSON.stringify(await live.statusOf(sessionId))
    expect(await stream.until('"status":"completed"')).toBe(
      `retry: 3000\nid: 1\ndata: ${pending}\n\nid: 2\ndata: ${completed}\n\n`,
    )
    stream.close()
  })

  test('has headers that prevent caching, buffering and transformation', async () => {
    const { sessionId } = await live.registered()
    const { response, close } = await follow(live, sessionId, { 'x-request-id': 'stream-1' })
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      connection: 'close',
      'x-request-id': 'stream-1',
    })
    close()
  })
})

describe('events', () => {
  test('are the current status, then every change in order, each equal to the status of B2', async () => {
    const walletAddress = walletOf('stream')
    const { sessionId } = await sandbox.registered({ body: { walletAddress } })
    const stream = await follow(sandbox, sessionId)
    await stream.until('"status":"pending"')
    for (const outcome of ['retry', 'submitted', 'completed', 'rejected'] as const) {
      // A submitted session is not reused, so an operator decides it.
      if (outcome === 'completed') await decide(service, sessionId, 'completed', '--override')
      else if (outcome === 'rejected') await decide(service, sessionId, 'rejected', '--revoke')
      else await sandbox.registered({ body: { walletAddress }, headers: { [OUTCOME]: outcome } })
    }
    const events = eventsOf(await stream.until('"status":"rejected"'))
    expect(
      events.map(({ status }) => [status.status, status.verifiedWallets.length, status.unverifiedWallets.length]),
    ).toEqual([
      ['pending', 0, 0],
      // The connection of the wallet.
      ['pending', 0, 1],
      ['retry', 0, 1],
      ['submitted', 0, 1],
      ['completed', 1, 0],
      ['rejected', 0, 1],
    ])
    const ids = events.map(({ id }) => id)
    expect(ids).toEqual([...ids].sort((left, right) => left - right))
    expect(events.at(-1)?.status).toEqual(await sandbox.statusOf(sessionId))
    expect(events.at(-2)?.status).toMatchObject({ userId: expect.any(String), completedAt: expect.any(String) })
    stream.close()
  })

  test('start with the final status of a decided session, whose stream stays open', async () => {
    const { sessionId } = await sandbox.registered({ headers: { [OUTCOME]: 'rejected' } })
    const stream = await follow(sandbox, sessionId)
    expect(eventsOf(await stream.until('"status":"rejected"'))).toHaveLength(1)
    await openStreamsBecome(1)
    stream.close()
    await openStreamsBecome(0)
  })

  test('start with the current status for any Last-Event-ID', async () => {
    const { sessionId } = await live.registered()
    for (const id of ['0', '1', '99', 'nonsense', '']) {
      const stream = await follow(live, sessionId, { 'last-event-id': id })
      expect(eventsOf(await stream.until('"status":"pending"')).map((event) => event.id)).toEqual([1])
      stream.close()
    }
  })

  test('reach every stream of the session', async () => {
    const { sessionId } = await live.registered()
    const streams = await Promise.all(Array.from({ length: 10 }, () => follow(live, sessionId)))
    await decide(service, sessionId, 'retry')
    for (const stream of streams) {
      expect(eventsOf(await stream.until('"status":"retry"')).map(({ id }) => id)).toEqual([1, 2])
      stream.close()
    }
    await openStreamsBecome(0)
  })
})

describe('clients', () => {
  const rawRequest = (sessionId: string) => {
    const { hostname, port } = new URL(live.base)
    const head = `GET ${pathOf(sessionId)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${live.key}\r\n\r\n`
    return { hostname, port: Number(port), request: head }
  }

  test('curl prints each event when it arrives', async () => {
    const { sessionId } = await live.registered()
    const child = Bun.spawn(
      ['curl', '-sN', `${live.base}${pathOf(sessionId)}`, '-H', `authorization: Bearer ${live.key}`],
      { stdout: 'pipe', stderr: 'ignore' },
    )
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) {
      const before = text
      text += decoder.decode(chunk)
      if (!before.includes('pending') && text.includes('pending'))
        await decide(service, sessionId, 'completed', '--override')
      if (text.includes('completed')) break
    }
    child.kill()
    await child.exited
    expect(eventsOf(text).map(({ id, status }) => [id, status.status])).toEqual([
      [1, 'pending'],
      [2, 'completed'],
    ])
    await openStreamsBecome(0)
  })

  test('an EventSource that sends the key follows a session', async () => {
    const { sessionId } = await live.registered()
    const lastEventIds: (string | null)[] = []
    const messages: { status: string; id: string }[] = []
    const seen = Promise.withResolvers<void>()
    const source = new EventSource(`${live.base}${pathOf(sessionId)}`, {
      fetch: (url, init) => {
        lastEventIds.push(new Headers(init.headers).get('last-event-id'))
        return fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${live.key}` } })
      },
    })
    source.onmessage = ({ data, lastEventId }) => {
      const { status } = JSON.parse(data) as StatusObject
      messages.push({ status, id: lastEventId })
      if (status === 'completed') seen.resolve()
      else void decide(service, sessionId, 'completed', '--override')
    }
    await seen.promise
    source.close()
    expect(messages).toEqual([
      { status: 'pending', id: '1' },
      { status: 'completed', id: '2' },
    ])
    expect(lastEventIds).toEqual([null])
    await openStreamsBecome(0)
  })

  test('above the limit of a key get 429, while another key can connect', async () => {
    const { sessionId } = await live.registered()
    const streams = await Promise.all(Array.from({ length: 20 }, () => follow(live, sessionId)))
    const refused = await live.send('GET', pathOf(sessionId))
    expect(refused.headers.get('retry-after')).toBe('15')
    await expectProblem(refused, 429, 'RATE_LIMITED')
    const others = await sandbox.registered()
    ;(await follow(sandbox, others.sessionId)).close()
    for (const stream of streams) stream.close()
    await openStreamsBecome(0)
    const again = await follow(live, sessionId)
    await again.until('"status":"pending"')
    again.close()
  })

  test('that reset their connections do not leave streams open', async () => {
    const { sessionId } = await live.registered()
    const { hostname, port, request } = rawRequest(sessionId)
    for (let round = 0; round < 20; round++) {
      const sockets = await Promise.all(
        Array.from(
          { length: 10 },
          () =>
            new Promise<Socket>((resolve, reject) => {
              const socket = connect(port, hostname, () => socket.write(request))
              socket.once('data', () => resolve(socket))
              socket.once('error', reject)
            }),
        ),
      )
      for (const socket of sockets) socket.resetAndDestroy()
      await openStreamsBecome(0)
    }
  })

  test('that disconnect before a response do not leave streams open', async () => {
    const { sessionId } = await live.registered()
    const { hostname, port, request } = rawRequest(sessionId)
    await Promise.all(
      Array.from(
        { length: 30 },
        () =>
          new Promise<void>((resolve) => {
            const socket = connect(port, hostname, () => socket.write(request, () => socket.resetAndDestroy()))
            socket.once('error', () => undefined)
            socket.once('close', () => resolve())
          }),
      ),
    )
    await openStreamsBecome(0)
  })
})

test('a service that stops ends its streams within 5 seconds', async () => {
  const { sessionId } = await live.registered()
  const stream = await follow(live, sessionId)
  await stream.until('"status":"pending"')
  const startedMs = performance.now()
  service.process.kill('SIGTERM')
  expect(eventsOf(await stream.toEnd())).toHaveLength(1)
  expect(await service.process.exited).toBe(0)
  expect(performance.now() - startedMs).toBeLessThan(5_000)
})
