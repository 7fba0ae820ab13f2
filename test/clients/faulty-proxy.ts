// A proxy between a client and the service. It applies the configured faults to the first requests, forwards all others,
// and records the keys of each request.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** The handling of one request. */
export interface Fault {
  /** Respond with this status without calling the service. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON unless it is text. */
  readonly body?: unknown
  /** A body that never ends. */
  readonly endless?: boolean
  /** A response that starts with the first text and repeats the second forever. */
  readonly drip?: readonly [beginning: string, again: string]
  /** Close the connection without calling the service, after its discarded response, or after its first event. */
  readonly cut?: 'before' | 'after' | 'after_event'
}

interface Attempt {
  /** Idempotency keys of the request, or of each element of a batch. */
  readonly keys: readonly string[]
  readonly requestId: string
  readonly lastEventId: string | null
}

export interface FaultyProxy {
  readonly url: string
  /** Sets the faults of the next requests and discards recorded attempts. */
  expect(faults: readonly Fault[]): void
  attempts(): readonly Attempt[]
  stop(): Promise<void>
}

const headerOf = (request: IncomingMessage, name: string): string | null => {
  const found = request.headers[name]
  return typeof found === 'string' ? found : null
}

const keysOf = (request: IncomingMessage, body: Buffer): string[] => {
  const key = headerOf(request, 'idempotency-key')
  if (key !== null) return [key]
  if (request.url !== '/v2/attestations') return []
  const { requests } = JSON.parse(body.toString()) as { requests: { idempotency_key: string }[] }
  return requests.map(({ idempotency_key: element }) => element)
}

/** Yields parts of an endless JSON string. */
function* endlessText(): Generator<string> {
  yield '"'
  for (;;) yield 'x'.repeat(65_536)
}

const DRIP_MS = 20

const drip = ({ socket }: IncomingMessage, [beginning, again]: readonly [string, string]): void => {
  socket.write(beginning)
  const timer = setInterval(() => socket.write(again), DRIP_MS)
  socket.on('error', () => undefined).on('close', () => clearInterval(timer))
}

const forward = async (
  url: string,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  cut: Fault['cut'],
): Promise<void> => {
  const controller = new AbortController()
  response.on('close', () => controller.abort())
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
  const answer = await fetch(url + request.url, {
    method: request.method ?? 'GET',
    headers: headers as Record<string, string>,
    redirect: 'manual',
    signal: controller.signal,
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  })
  if (cut === 'after') {
    await answer.arrayBuffer()
    request.socket.destroy()
    return
  }
  const { 'content-length': _length, 'content-encoding': _encoding, ...sent } = Object.fromEntries(answer.headers)
  response.writeHead(answer.status, sent)
  for await (const chunk of answer.body ?? []) {
    response.write(chunk)
    if (cut === 'after_event' && Buffer.from(chunk).includes('\n\n')) {
      // Unlike destroy(), end() delivers the written event before the connection closes.
      response.end()
      return
    }
  }
  response.end()
}

export const startFaultyProxy = async (serviceUrl: string): Promise<FaultyProxy> => {
  let faults: Fault[] = []
  let attempts: Attempt[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    attempts.push({
      keys: keysOf(request, body),
      requestId: headerOf(request, 'x-request-id') ?? '',
      lastEventId: headerOf(request, 'last-event-id'),
    })
    const fault = faults.shift()
    if (fault?.cut === 'before') request.socket.destroy()
    else if (fault?.drip !== undefined) drip(request, fault.drip)
    else if (fault?.status !== undefined) {
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
      if (fault.endless === true) return pipeline(Readable.from(endlessText()), response)
      response.end(typeof fault.body === 'string' ? fault.body : JSON.stringify(fault.body ?? {}))
    } else await forward(serviceUrl, request, body, response, fault?.cut)
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    expect: (wanted) => {
      faults = [...wanted]
      attempts = []
    },
    attempts: () => attempts,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
