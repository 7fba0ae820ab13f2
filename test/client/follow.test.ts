// Following a session over connections that end, break, hang or are refused: each status is delivered once and in order,
// and every stream is closed.
import { describe, expect, test } from 'bun:test'
import { createCountersignClient } from '../../src/client/client.ts'
import { AnswerInvalidError, type RequestRefusedError, ServiceUnreachableError } from '../../src/client/errors.ts'
import { followSession } from '../../src/client/follow.ts'
import { completed, pending, UUID } from './support/answers.ts'
import {
  json,
  problem,
  type ReceivedRequest,
  type RecordingServer,
  startRecordingServer,
} from './support/recording-server.ts'

type Controller = ReadableStreamDefaultController<Uint8Array>

interface StreamServer extends RecordingServer {
  /** Resolves for each stream that the client has canceled. */
  readonly closed: Promise<void>[]
}

/** Writes to the stream, or returns a different response. */
type Script = (stream: Controller, request: ReceivedRequest) => unknown

/** Each connection runs the next script; the last script runs for all further connections. */
const serveStreams = (...scripts: Script[]): StreamServer => {
  const closed: Promise<void>[] = []
  const server = startRecordingServer((request, index) => {
    const script = scripts[Math.min(index, scripts.length - 1)]!
    const left = Promise.withResolvers<void>()
    let answer: unknown = null
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        answer = script(controller, request)
      },
      cancel: () => left.resolve(),
    })
    if (answer instanceof Response) return answer
    closed.push(left.promise)
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  })
  return Object.assign(server, { closed })
}

const write = (stream: Controller, text: string): void => stream.enqueue(new TextEncoder().encode(text))
/** Writes the text and closes the stream. */
const writeLast = (stream: Controller, text: string): void => {
  write(stream, text)
  stream.close()
}
const event = (id: number, state: unknown): string => `id: ${id}\ndata: ${JSON.stringify(state)}\n\n`
const submitted = { ...pending, status: 'submitted' }
const rejected = { ...pending, status: 'rejected' }
const retry = { ...pending, status: 'retry' }

const clientOf = (server: RecordingServer, fetchImplementation?: typeof fetch) =>
  createCountersignClient({
    identityUrl: server.url,
    identityApiKey: 'csi_test_key',
    retry: { tries: 3, baseDelayMs: 0, maxDelayMs: 0 },
    fetch: fetchImplementation,
  })
const statuses = async (server: RecordingServer, options = {}): Promise<string[]> => {
  const received: string[] = []
  for await (const { status } of clientOf(server).follow('individual', UUID, options)) received.push(status)
  return received
}
const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

describe('follow', () => {
  test('delivers each status, and ends and closes the stream after completed', async () => {
    await using server = serveStreams((stream) => {
      write(stream, `retry: 3000\n${event(1, pending)}: keep-alive\n\n${event(2, submitted)}${event(3, completed)}`)
    })
    const states = []
    for await (const state of clientOf(server).follow('individual', UUID)) states.push(state)
    expect(states).toEqual([pending, submitted, completed] as never)
    await server.closed[0]
    const [request] = server.received
    expect(request!.path).toBe(`/api/v1/status/realtime/individual/${UUID}`)
    const headers = ['authorization', 'accept', 'last-event-id'].map((name) => request!.headers.get(name))
    expect(headers).toEqual(['Bearer csi_test_key', 'text/event-stream', null])
    expect(server.received).toHaveLength(1)
  })

  test('ends after rejected', async () => {
    await using server = serveStreams((stream) => write(stream, event(1, rejected)))
    expect(await statuses(server)).toEqual(['rejected'])
  })

  test('resumes an interrupted stream after its last event, and delivers no status twice', async () => {
    await using server = serveStreams(
      (stream) => writeLast(stream, event(1, pending) + event(2, submitted)),
      // After a restart: the current status again, then an incomplete event.
      (stream) => writeLast(stream, `${event(2, submitted)}data: {"half":`),
      () => problem(503, 'SHUTTING_DOWN', { 'retry-after': '0' }),
      (stream) => write(stream, event(2, submitted) + event(5, retry) + event(6, completed)),
    )
    expect(await statuses(server)).toEqual(['pending', 'submitted', 'retry', 'completed'])
    expect(server.received.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, '2', '2', '2'])
  })

  test('reconnects without a limit once an event has arrived', async () => {
    let connections = 0
    await using server = serveStreams((stream) => {
      connections += 1
      writeLast(stream, connections < 20 ? event(1, pending) : event(2, completed))
    })
    expect(await statuses(server)).toEqual(['pending', 'completed'])
    expect(connections).toBe(20)
  })

  test('abandons a silent stream', async () => {
    await using server = serveStreams(
      (stream) => write(stream, event(1, pending)),
      (stream) => write(stream, event(2, completed)),
    )
    expect(await statuses(server, { quietMs: 30 })).toEqual(['pending', 'completed'])
    await server.closed[0]
  })

  test('does not count the time that the caller spends on an event as silence', async () => {
    let open: Controller | undefined
    await using server = serveStreams((stream) => {
      open = stream
      write(stream, event(1, pending))
    })
    const quietMs = 20
    const received: string[] = []
    for await (const { status } of clientOf(server).follow('individual', UUID, { quietMs })) {
      received.push(status)
      // Busy for longer than quietMs, then a turn of the event loop in which a timer would fire.
      const sinceMs = performance.now()
      while (performance.now() - sinceMs < 2 * quietMs);
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
      if (status === 'pending') write(open!, event(2, completed))
    }
    expect(received).toEqual(['pending', 'completed'])
    expect(server.received).toHaveLength(1)
  })

  test('fails after the usual number of attempts if no event has arrived', async () => {
    await using server = serveStreams(() => problem(503, 'OVERLOADED', { 'retry-after': '0' }))
    expect(((await failure(statuses(server))) as RequestRefusedError).code).toBe('OVERLOADED')
    expect(server.received).toHaveLength(3)
    await using empty = serveStreams((stream) => stream.close())
    expect(await failure(statuses(empty))).toBeInstanceOf(ServiceUnreachableError)
    expect(empty.received).toHaveLength(3)
  })

  test('ends if the session does not exist or the key was revoked in the meantime', async () => {
    await using missing = serveStreams(() => problem(404, 'NOT_FOUND'))
    expect(((await failure(statuses(missing))) as RequestRefusedError).code).toBe('NOT_FOUND')
    expect(missing.received).toHaveLength(1)
    await using revoked = serveStreams(
      (stream) => writeLast(stream, event(1, pending)),
      () => problem(401, 'UNAUTHENTICATED'),
    )
    expect(((await failure(statuses(revoked))) as RequestRefusedError).code).toBe('UNAUTHENTICATED')
  })

  test.each([
    ['an event that is not JSON', (stream: Controller) => write(stream, 'data: hello\n\n')],
    ['an event with an unexpected shape', (stream: Controller) => write(stream, 'data: {"status":"pending"}\n\n')],
    ['a response that is not an event stream', () => json(pending)],
  ])('rejects %s', async (_, script) => {
    await using server = serveStreams(script)
    expect(await failure(statuses(server))).toBeInstanceOf(AnswerInvalidError)
    expect(server.received).toHaveLength(1)
  })

  test('ends with the reason of the signal, and closes the stream', async () => {
    await using server = serveStreams((stream) => write(stream, event(1, pending)))
    const controller = new AbortController()
    const reason = new Error('the user left the page')
    const following = (async () => {
      for await (const { status } of clientOf(server).follow('individual', UUID, { signal: controller.signal })) {
        if (status === 'pending') setTimeout(() => controller.abort(reason), 0)
      }
    })()
    expect(await failure(following)).toBe(reason)
    await server.closed[0]
  })

  test('closes the stream when the caller exits the loop', async () => {
    await using server = serveStreams((stream) => write(stream, event(1, pending)))
    for await (const { status } of clientOf(server).follow('individual', UUID)) {
      expect(status).toBe('pending')
      break
    }
    await server.closed[0]
    expect(server.received).toHaveLength(1)
  })
})

describe('the waits between connections', () => {
  /** Returns the waits in milliseconds, with maximum jitter. */
  const waitsOf = async (server: RecordingServer): Promise<number[]> => {
    const waits: number[] = []
    const states = followSession({
      fetch,
      endpoint: { url: server.url, headers: {} },
      path: `/api/v1/status/realtime/individual/${UUID}`,
      timeoutMs: 10_000,
      quietMs: 10_000,
      random: () => 1,
      signal: undefined,
      retry: { tries: 3, baseDelayMs: 100, maxDelayMs: 1_000, maxRetryAfterMs: 60_000 },
      wait: async (delayMs) => void waits.push(delayMs),
    })
    for await (const _state of states);
    return waits
  }
  test('grow with each failure up to the maximum, and restart after an event', async () => {
    const lost = Array.from({ length: 5 }, () => (stream: Controller) => stream.close())
    await using server = serveStreams(
      (stream) => writeLast(stream, event(1, pending)),
      ...lost,
      (stream) => writeLast(stream, event(2, submitted)),
      (stream) => write(stream, event(3, completed)),
    )
    expect(await waitsOf(server)).toEqual([100, 200, 400, 800, 1_000, 1_000, 100])
  })

  test('are at least the value of the retry field, up to the maximum of the retry policy', async () => {
    await using server = serveStreams(
      (stream) => writeLast(stream, `retry: 700\n${event(1, pending)}`),
      (stream) => writeLast(stream, `retry: 3000\n${event(2, submitted)}`),
      (stream) => write(stream, event(3, completed)),
    )
    expect(await waitsOf(server)).toEqual([700, 1_000])
  })
})
