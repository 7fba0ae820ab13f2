// Sends one HTTP request. Redirects are not followed, because they would expose the key to another host.
import { parseRetryAfter } from './backoff.ts'
import type { Endpoint } from './endpoint.ts'
import { AnswerInvalidError, RequestRefusedError, ServiceUnreachableError } from './errors.ts'

/** Global fetch or a function with the same signature. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  /** Path with the query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON text. */
  readonly body?: string
  /** Client-generated id, shared by all attempts of a call. */
  readonly requestId: string
}

/** Maximum size of a response: a hundred times the size of a full batch. */
const ANSWER_BYTES_MAX = 16_777_216

/** Returns the text of the body; null if it exceeds the maximum size. */
export const readText = async (response: Response): Promise<string | null> => {
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  for await (const bytes of response.body ?? []) {
    size += bytes.length
    // Leaving the loop cancels the body.
    if (size > ANSWER_BYTES_MAX) return null
    text += decoder.decode(bytes, { stream: true })
  }
  return text + decoder.decode()
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the error of a problem document (RFC 9457), or an error with only the status for other bodies. */
const toRefusal = async (response: Response, requestId: string): Promise<RequestRefusedError> => {
  const { status } = response
  const body = parseJson((await readText(response).catch(() => null)) ?? '')
  const problem = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>
  const text = (name: string): string | null => (typeof problem[name] === 'string' ? problem[name] : null)
  return new RequestRefusedError({
    code: text('code') ?? 'UNKNOWN_REFUSAL',
    status,
    detail: text('detail') ?? 'the service refused the request without a reason',
    requestId: text('request_id') ?? requestId,
    retryAfterSeconds: parseRetryAfter(response.headers.get('retry-after')),
  })
}

/**
 * Sends a request and waits for the response headers. `x-request-id` contains the request id of the response.
 * @throws RequestRefusedError, ServiceUnreachableError, AnswerInvalidError (a redirect)
 */
export const sendRequest = async (
  fetchImplementation: Fetch,
  endpoint: Endpoint,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<Response> => {
  const { method, path, requestId } = request
  let response: Response
  try {
    response = await fetchImplementation(endpoint.url + path, {
      method,
      headers: { accept: 'application/json', ...request.headers, ...endpoint.headers, 'x-request-id': requestId },
      ...(request.body === undefined ? {} : { body: request.body }),
      redirect: 'manual',
      signal,
    })
  } catch (error) {
    throw new ServiceUnreachableError('the service cannot be reached', requestId, error)
  }
  if (response.ok) return response
  const answeredId = response.headers.get('x-request-id') ?? requestId
  if (response.status < 400) {
    await response.body?.cancel()
    throw new AnswerInvalidError(`status ${response.status}`, answeredId)
  }
  throw await toRefusal(response, answeredId)
}
