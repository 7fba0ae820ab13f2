// Stands between a client and the service: answers or cuts the requests that it is told to, forwards the others, and
// remembers what each one carried.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** What becomes of one request, in order; requests beyond the list are forwarded. */
export interface Fault {
  /** Answered with this status, instead of by the service. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON unless it is text. */
  readonly body?: unknown
  /** A body that never ends. */
  readonly endless?: boolean
  /** This beginning of an answer, and then this again and again, without an end. */
  readonly drip?: readonly [beginning: string, again: string]
  /**
   * The connection is closed before the service hears of the request; after it has answered, with its answer thrown
   * away; or after the first event of a stream. `none` forwards.
   */
  readonly cut?: 'before' | 'after' | 'after_event' | 'none'
}

export interface Try {
  /** Of the request, or of each element of a batch. */
  readonly keys: readonly string[]
  readonly requestId: string
  readonly lastEventId: string | null
}

export interface FaultyProxy {
  readonly url: string
  /** Forgets earlier tries. */
  expect(faults: readonly Fault[]): void
  tries(): readonly Try[]
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

/** Pieces of a JSON text without an end. */
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
      // What was written reaches the client before the connection ends.
      response.end()
      return
    }
  }
  response.end()
}

export const startFaultyProxy = async (serviceUrl: string): Promise<FaultyProxy> => {
  let faults: Fault[] = []
  let tries: Try[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    tries.push({
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
      tries = []
    },
    tries: () => tries,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
