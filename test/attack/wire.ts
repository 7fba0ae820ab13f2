// Sends one HTTP/1.1 request as bytes on its own connection and reads the answer. `fetch` would refuse, normalize or
// complete most hostile requests.

export interface WireRequest {
  readonly method: string
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Uint8Array
  /** Number of body bytes after which the sending side is closed; null sends all bytes. */
  readonly cutAfterBytes: number | null
}

export interface WireAnswer {
  readonly status: number
  /** Lowercase names. Values of equal names are joined by a line feed. */
  readonly headers: ReadonlyMap<string, string>
  /** Decoded as UTF-8. For a stream, its beginning. */
  readonly body: string
}

/** Result of a connection: an answer, closed without an answer, or no answer within the limit. */
export type Outcome = WireAnswer | 'closed' | 'silent'

const encoder = new TextEncoder()

/** Returns the bytes of a request. Adds the body's length if no header declares a length. */
export const requestBytes = ({ method, target, headers, body, cutAfterBytes }: WireRequest): Uint8Array => {
  const framed = headers.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name))
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(framed || (body.length === 0 && method === 'GET') ? [] : [`content-length: ${body.length}`]),
    'connection: close',
  ]
  const head = encoder.encode(`${lines.join('\r\n')}\r\n\r\n`)
  return Buffer.concat([head, cutAfterBytes === null ? body : body.subarray(0, cutAfterBytes)])
}

const HEAD_END = Buffer.from('\r\n\r\n')

const parseHead = (text: string): { status: number; headers: Map<string, string> } | null => {
  const [first = '', ...lines] = text.split('\r\n')
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1]
  if (status === undefined) return null
  const headers = new Map<string, string>()
  for (const line of lines) {
    const at = line.indexOf(':')
    const name = line.slice(0, at).toLowerCase()
    const value = line.slice(at + 1).trim()
    headers.set(name, headers.has(name) ? `${headers.get(name)}\n${value}` : value)
  }
  return { status: Number(status), headers }
}

/** Returns the received chunks; `whole` is true after the last chunk. */
const unchunk = (bytes: Buffer): { body: Buffer; whole: boolean } => {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return { body: Buffer.concat(parts), whole: false }
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (!(size > 0)) return { body: Buffer.concat(parts), whole: size === 0 }
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
    if (at > bytes.length) return { body: Buffer.concat(parts), whole: false }
  }
}

/** Parses the received bytes. Returns null until the head is complete; `whole` is false if more bytes must follow. */
const readAnswer = (bytes: Buffer, method: string): { answer: WireAnswer; whole: boolean } | null => {
  const end = bytes.indexOf(HEAD_END)
  if (end === -1) return null
  const head = parseHead(bytes.toString('utf8', 0, end))
  if (head === null) return null
  const { status, headers } = head
  const rest = bytes.subarray(end + HEAD_END.length)
  if (status < 200) return readAnswer(rest, method)
  const length = headers.get('content-length')
  if (method === 'HEAD' || status === 204 || status === 304) {
    return { answer: { status, headers, body: '' }, whole: true }
  }
  // An event stream does not end, so its beginning is enough.
  const streams = headers.get('content-type')?.startsWith('text/event-stream') === true
  const chunked = headers.get('transfer-encoding') === 'chunked'
  const { body, whole } = chunked
    ? unchunk(rest)
    : { body: length === undefined ? rest : rest.subarray(0, Number(length)), whole: rest.length >= Number(length) }
  return { answer: { status, headers, body: body.toString('utf8') }, whole: whole || streams }
}

/**
 * Sends bytes and reads one answer.
 * @param endsEarly whether to close the sending side after the bytes, because fewer are sent than declared
 * @param pause position from which bytes are sent later
 */
export const exchangeBytes = (
  port: number,
  bytes: Uint8Array,
  {
    method = 'GET',
    limitMs = 30_000,
    endsEarly = false,
    pause = null as null | { at: number; end: Promise<void> },
  } = {},
): Promise<Outcome> => {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  let received: Buffer = Buffer.alloc(0)
  let socket: Bun.Socket | null = null
  let left: Uint8Array = bytes.subarray(0, pause?.at)
  const settle = (outcome: Outcome): void => {
    clearTimeout(limit)
    resolve(outcome)
    socket?.terminate()
  }
  const found = (): WireAnswer | null => readAnswer(received, method)?.answer ?? null
  const limit = setTimeout(() => settle('silent'), limitMs)
  const push = (to: Bun.Socket): void => {
    left = left.subarray(to.write(left))
    if (left.length === 0 && endsEarly) to.shutdown()
  }
  pause?.end.then(() => {
    left = bytes.subarray(pause.at)
    if (socket !== null) push(socket)
  })
  Bun.connect({
    hostname: '127.0.0.1',
    port,
    allowHalfOpen: true,
    socket: {
      open: (to) => {
        socket = to
        push(to)
      },
      drain: push,
      data: (_, chunk) => {
        received = Buffer.concat([received, chunk])
        const read = readAnswer(received, method)
        if (read?.whole === true) settle(read.answer)
      },
      end: () => settle(found() ?? 'closed'),
      close: () => settle(found() ?? 'closed'),
      error: () => settle(found() ?? 'closed'),
    },
  }).catch(() => settle('closed'))
  return promise
}

export const exchange = (port: number, request: WireRequest, limitMs?: number): Promise<Outcome> =>
  exchangeBytes(port, requestBytes(request), {
    method: request.method,
    endsEarly: request.cutAfterBytes !== null,
    ...(limitMs === undefined ? {} : { limitMs }),
  })
