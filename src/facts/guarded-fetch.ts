// HTTP request to an operator's URL: https only, permitted addresses (reachable.ts), no redirects, limited bytes and
// time. Uses node:http, because fetch can't be restricted to the checked address.
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Reach } from '../domain/list.ts'
import { DetailedError, errorCodeOf, NamedError } from '../lib/named-error.ts'
import { responseTo } from '../lib/one-response.ts'
import { isFragmented } from '../lib/upload-pace.ts'
import { createGuardedLookup, parseReachableUrl, UrlRefusedError } from './reachable.ts'

/** `detail` is for the operator and contains nothing from the server. */
export class FetchFailedError extends DetailedError {}

export class AnswerTooLongError extends FetchFailedError {
  constructor(maxBytes: number) {
    super(`the response has more than ${maxBytes} bytes`)
  }
}

export class AnswerStatusError extends FetchFailedError {
  readonly status: number
  constructor(status: number) {
    super(`the server responded with status ${status}`)
    this.status = status
  }
}

export interface GuardedRequest {
  readonly url: string
  readonly reach: Reach
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
  readonly maxBytes: number
  /** Rejects a response that may be truncated, for formats without an end marker such as CSV. Defaults to false. */
  readonly needsLength?: boolean
  readonly signal?: AbortSignal | undefined
  /** PEM certificates trusted in addition to the system certificates. */
  readonly certificateAuthority?: string
  readonly lookup?: ReturnType<typeof createGuardedLookup>
  /** Called with the headers of a 200 response before its body. */
  readonly onHeaders?: (headers: IncomingHttpHeaders) => void
}

export class NotModifiedError extends NamedError {}

/** Thrown for callers that follow redirects to permitted hosts. */
export class RedirectedError extends FetchFailedError {
  override readonly name = 'RedirectedError'
  readonly location: string
  constructor(statusCode: number, location: string) {
    super(`the server redirects (${statusCode}), but redirects are not followed: use the final URL`)
    this.location = location
  }
}

const KEEP_OPEN = { keepAlive: true, timeout: 5_000 } as const

const createAgents = () => ({ http: new HttpAgent(KEEP_OPEN), https: new HttpsAgent(KEEP_OPEN) })

/** Separate by reach: a request on an open connection isn't checked again, so it must not use a wider reach. */
const agents: Readonly<Record<Reach, ReturnType<typeof createAgents>>> = {
  public: createAgents(),
  private: createAgents(),
  loopback: createAgents(),
}

const reasonOf = (error: unknown): Error => {
  if (error instanceof UrlRefusedError || error instanceof FetchFailedError) return error
  if (error instanceof NotModifiedError) return error
  const code = errorCodeOf(error)
  return new FetchFailedError(typeof code === 'string' ? `could not connect (${code})` : 'could not connect', error)
}

/** Without a length or chunks, the body ends with the connection (RFC 9112 §6.3). */
const endsWithConnection = (headers: IncomingHttpHeaders): boolean =>
  headers['content-length'] === undefined && headers['transfer-encoding'] === undefined

const refusalOf = (
  { statusCode = 0, headers }: IncomingMessage,
  { maxBytes, needsLength = false }: Pick<GuardedRequest, 'maxBytes' | 'needsLength'>,
): Error | null => {
  if (statusCode === 304) return new NotModifiedError()
  if (statusCode >= 300 && statusCode < 400) return new RedirectedError(statusCode, headers.location ?? '')
  if (statusCode !== 200) return new AnswerStatusError(statusCode)
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    return new FetchFailedError('the server sent a content encoding that was not requested')
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
    return new AnswerTooLongError(maxBytes)
  }
  if (needsLength && endsWithConnection(headers)) {
    return new FetchFailedError(
      'the server does not send the length of the file, so a truncated file would look complete',
    )
  }
  return null
}

/** Yields the body of a 200 response. @throws UrlRefusedError, FetchFailedError */
export async function* guardedFetch(options: GuardedRequest): AsyncGenerator<Uint8Array> {
  const { reach, timeoutMs, maxBytes, body, signal } = options
  const url = parseReachableUrl(options.url, reach)
  const isSecure = url.protocol === 'https:'
  const send = isSecure ? httpsRequest : httpRequest
  const outgoing = send(url, {
    agent: agents[reach][isSecure ? 'https' : 'http'],
    method: options.method ?? 'GET',
    headers: {
      ...options.headers,
      'accept-encoding': 'identity',
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    },
    lookup: options.lookup ?? createGuardedLookup(reach),
    ...(options.certificateAuthority === undefined ? {} : { ca: options.certificateAuthority }),
  })
  let late = false
  let complete = false
  const timer = setTimeout(() => {
    late = true
    outgoing.destroy(new FetchFailedError('the request timed out'))
  }, timeoutMs)
  const interrupt = (): void => void outgoing.destroy(new FetchFailedError('the request was interrupted'))
  signal?.addEventListener('abort', interrupt, { once: true })
  try {
    signal?.throwIfAborted()
    const response = await responseTo(outgoing, body, (detail) => new FetchFailedError(detail))
    const refusal = refusalOf(response, options)
    if (refusal !== null) throw refusal
    options.onHeaders?.(response.headers)
    let received = 0
    let chunks = 0
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      received += chunk.length
      chunks += 1
      if (received > maxBytes) throw new AnswerTooLongError(maxBytes)
      if (isFragmented(chunks, received)) throw new FetchFailedError('the chunks of the response are too small')
      yield chunk
    }
    // Bun ends the iteration without an error, even after a reset or the destruction of the request.
    if (signal?.aborted === true) throw new FetchFailedError('the request was interrupted')
    const length = response.headers['content-length']
    if (late || !response.complete || (length !== undefined && received !== Number(length))) {
      throw new FetchFailedError('the response ended early')
    }
    complete = true
  } catch (error) {
    throw late ? new FetchFailedError('the request timed out', error) : reasonOf(error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', interrupt)
    // Only the connection of a complete response is reused.
    if (!complete) outgoing.destroy()
  }
}

export const fetchBody = async (options: GuardedRequest): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of guardedFetch(options)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
