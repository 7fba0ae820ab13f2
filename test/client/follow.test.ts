// Following a session over connections that end, break, hang and are refused: each status is told once, in order, and
// nothing is left open.
import { afterEach, describe, expect, test } from 'bun:test'
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

const servers: RecordingServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
})

type Controller = ReadableStreamDefaultController<Uint8Array>

interface StreamServer extends RecordingServer {
  /** How many streams the client has left, or was told the end of. */
  readonly closed: Promise<void>[]
}

/** Writes to the stream, or answers with something else. */
type Script = (stream: Controller, request: ReceivedRequest) => unknown

/** Each connection runs the next script; the last one serves all further ones. */
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
  servers.push(server)
  return Object.assign(server, { closed })
}

const say = (stream: Controller, text: string): void => stream.enqueue(new TextEncoder().encode(text))
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
  const told: string[] = []
  for await (const { status } of clientOf(server).follow('individual', UUID, options)) told.push(status)
  return told
}
const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

describe('follow', () => {
  test('tells each status and ends after completed, leaving the stream', async () => {
    const server = serveStreams((stream) => {
      say(stream, `retry: 3000\n${event(1, pending)}: keep-alive\n\n${event(2, submitted)}${event(3, completed)}`)
    })
    const states = []
    for await (const state of clientOf(server).follow('individual', UUID)) states.push(state)
    expect(states).toEqual([pending, submitted, completed] as never)
    await server.closed[0]
    const [asked] = server.received
    expect(asked!.path).toBe(`/api/v1/status/realtime/individual/${UUID}`)
    expect(asked!.headers.get('authorization')).toBe('Bearer csi_test_key')
    expect(asked!.headers.get('accept')).toBe('text/event-stream')
    expect(asked!.headers.get('last-event-id')).toBeNull()
    expect(server.received).toHaveLength(1)
  })

  test('ends after rejected', async () => {
    const server = serveStreams((stream) => say(stream, event(1, rejected)))
    expect(await statuses(server)).toEqual(['rejected'])
  })

  test('takes up a lost stream where it ended, and tells nothing twice', async () => {
    const server = serveStreams(
      (stream) => {
        say(stream, event(1, pending) + event(2, submitted))
        stream.close()
      },
      // Restarted meanwhile: the current status again, then a half event, then gone.
      (stream) => {
        say(stream, `${event(2, submitted)}data: {"half":`)
        stream.close()
      },
      () => problem(503, 'SHUTTING_DOWN', { 'retry-after': '0' }),
      (stream) => say(stream, event(2, submitted) + event(5, retry) + event(6, completed)),
    )
    expect(await statuses(server)).toEqual(['pending', 'submitted', 'retry', 'completed'])
    expect(server.received.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, '2', '2', '2'])
  })

  test('goes on for as long as it takes once it has begun', async () => {
    let connections = 0
    const server = serveStreams((stream) => {
      connections += 1
      say(stream, connections < 20 ? event(1, pending) : event(2, completed))
      stream.close()
    })
    expect(await statuses(server)).toEqual(['pending', 'completed'])
    expect(connections).toBe(20)
  })

  test('gives up a stream on which nothing comes', async () => {
    const server = serveStreams(
      (stream) => say(stream, event(1, pending)),
      (stream) => say(stream, event(2, completed)),
    )
    expect(await statuses(server, { quietMs: 30 })).toEqual(['pending', 'completed'])
    await server.closed[0]
  })

  test('counts the caller’s own work on an event as no silence of the service', async () => {
    let open: Controller | undefined
    const server = serveStreams((stream) => {
      open = stream
      say(stream, event(1, pending))
    })
    const quietMs = 20
    const told: string[] = []
    for await (const { status } of clientOf(server).follow('individual', UUID, { quietMs })) {
      told.push(status)
      // Busy for longer than that, then a turn of the event loop in which a timer would fire.
      const sinceMs = performance.now()
      while (performance.now() - sinceMs < 2 * quietMs);
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
      if (status === 'pending') say(open!, event(2, completed))
    }
    expect(told).toEqual(['pending', 'completed'])
    expect(server.received).toHaveLength(1)
  })

  test('does not begin for ever: it fails as often as any call', async () => {
    const server = serveStreams(() => problem(503, 'OVERLOADED', { 'retry-after': '0' }))
    expect(((await failure(statuses(server))) as RequestRefusedError).code).toBe('OVERLOADED')
    expect(server.received).toHaveLength(3)
    const empty = serveStreams((stream) => stream.close())
    expect(await failure(statuses(empty))).toBeInstanceOf(ServiceUnreachableError)
    expect(empty.received).toHaveLength(3)
  })

  test('ends with what will not change: a session that is not there, a key that was revoked meanwhile', async () => {
    const missing = serveStreams(() => problem(404, 'NOT_FOUND'))
    expect(((await failure(statuses(missing))) as RequestRefusedError).code).toBe('NOT_FOUND')
    expect(missing.received).toHaveLength(1)
    const revoked = serveStreams(
      (stream) => {
        say(stream, event(1, pending))
        stream.close()
      },
      () => problem(401, 'UNAUTHENTICATED'),
    )
    expect(((await failure(statuses(revoked))) as RequestRefusedError).code).toBe('UNAUTHENTICATED')
  })

  test.each([
    ['not an event stream', () => json(pending)],
    ['an event that is not JSON', (stream: Controller) => say(stream, 'data: hello\n\n')],
    ['an event of another shape', (stream: Controller) => say(stream, 'data: {"status":"pending"}\n\n')],
  ])('refuses %s', async (_, script) => {
    const server = serveStreams(script)
    expect(await failure(statuses(server))).toBeInstanceOf(AnswerInvalidError)
    expect(server.received).toHaveLength(1)
  })

  test('stops with the signal’s own reason, and closes the stream', async () => {
    const server = serveStreams((stream) => say(stream, event(1, pending)))
    const controller = new AbortController()
    const reason = new Error('the page was left')
    const following = (async () => {
      for await (const { status } of clientOf(server).follow('individual', UUID, { signal: controller.signal })) {
        if (status === 'pending') setTimeout(() => controller.abort(reason), 0)
      }
    })()
    expect(await failure(following)).toBe(reason)
    await server.closed[0]
  })

  test('closes the stream when the loop is left', async () => {
    const server = serveStreams((stream) => say(stream, event(1, pending)))
    for await (const { status } of clientOf(server).follow('individual', UUID)) {
      expect(status).toBe('pending')
      break
    }
    await server.closed[0]
    expect(server.received).toHaveLength(1)
  })
})

describe('the waits between connections', () => {
  /** @returns the waits, milliseconds, of a policy whose random part is always all of it. */
  const waitsOf = async (server: RecordingServer, baseDelayMs = 100): Promise<number[]> => {
    const waits: number[] = []
    const told = followSession({
      fetch,
      endpoint: { url: server.url, headers: {} },
      path: `/api/v1/status/realtime/individual/${UUID}`,
      timeoutMs: 10_000,
      quietMs: 10_000,
      random: () => 1,
      signal: undefined,
      retry: { tries: 3, baseDelayMs, maxDelayMs: 1_000, maxRetryAfterMs: 60_000 },
      wait: async (delayMs) => void waits.push(delayMs),
    })
    for await (const _state of told);
    return waits
  }
  const lost = (stream: Controller): void => stream.close()

  test('grow with each failure up to the longest, and begin anew with an event', async () => {
    const server = serveStreams(
      (stream) => {
        say(stream, event(1, pending))
        stream.close()
      },
      lost,
      lost,
      lost,
      lost,
      lost,
      (stream) => {
        say(stream, event(2, submitted))
        stream.close()
      },
      (stream) => say(stream, event(3, completed)),
    )
    expect(await waitsOf(server)).toEqual([100, 200, 400, 800, 1_000, 1_000, 100])
  })

  test('are at least what the server asks for, as far as the policy waits at all', async () => {
    const server = serveStreams(
      (stream) => {
        say(stream, `retry: 700\n${event(1, pending)}`)
        stream.close()
      },
      (stream) => {
        say(stream, `retry: 3000\n${event(2, submitted)}`)
        stream.close()
      },
      (stream) => say(stream, event(3, completed)),
    )
    expect(await waitsOf(server)).toEqual([700, 1_000])
  })
})
