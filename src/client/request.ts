// Sends one HTTP request. Does not follow redirects, which would expose the key to another host.
import { parseRetryAfter } from './backoff.ts'
import type { Endpoint } from './endpoint.ts'
import { AnswerInvalidError, RequestRefusedError, ServiceUnreachableError } from './errors.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Client-generated id, shared by all attempts of a call. */
  readonly requestId: string
}

/** A hundred times the size of a full batch. */
const ANSWER_BYTES_MAX = 16_777_216

/** Returns null if the body exceeds the maximum size. */
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

/** Converts a problem document (RFC 9457); other bodies yield only the status. */
const toRefusal = async (response: Response, requestId: string): Promise<RequestRefusedError> => {
  const { status } = response
  const body = parseJson((await readText(response).catch(() => null)) ?? '')
  const problem = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>
  const text = (name: string): string | null => (typeof problem[name] === 'string' ? problem[name] : null)
  return new RequestRefusedError({
    code: text('code') ?? 'UNKNOWN_REFUSAL',
    status,
    detail: text('detail') ?? 'the service returned an error without a reason',
    requestId: text('request_id') ?? requestId,
    retryAfterSeconds: parseRetryAfter(response.headers.get('retry-after')),
  })
}

/**
 * Waits for the response headers.
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
    throw new ServiceUnreachableError('could not reach the service', requestId, error)
  }
  if (response.ok) return response
  const answeredId = response.headers.get('x-request-id') ?? requestId
  if (response.status < 400) {
    await response.body?.cancel()
    throw new AnswerInvalidError(`status ${response.status}`, answeredId)
  }
  throw await toRefusal(response, answeredId)
}
