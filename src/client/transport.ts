// Retries repeat the request with the same Idempotency-Key, so that the service processes it at most once.
import { isRetried, isTwinInFlight, type RetryPolicy, retryDelayMs, twinDelayMs, type wait } from './backoff.ts'
import type { Endpoint } from './endpoint.ts'
import { AnswerInvalidError, ServiceUnreachableError } from './errors.ts'
import { type Fetch, readText, sendRequest } from './request.ts'

export interface TransportDependencies {
  readonly fetch: Fetch
  /** Milliseconds per attempt, until the last byte of the response. */
  readonly timeoutMs: number
  readonly retry: RetryPolicy
  readonly random: () => number
  readonly wait: typeof wait
}

export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal | undefined
}

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly requestId: string
}

/** @throws RequestRefusedError, ServiceUnreachableError, AnswerInvalidError; the signal's reason if aborted */
export type Transport = (endpoint: Endpoint, call: Call) => Promise<Answer>

/** Aborts `work` at the timeout, or with the caller's signal. */
const withTimeLimit = async <Result>(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  outer?.throwIfAborted()
  const controller = new AbortController()
  const abort = (): void => controller.abort(outer?.reason)
  outer?.addEventListener('abort', abort, { once: true })
  const timer = setTimeout(() => controller.abort(new Error(`no response within ${timeoutMs} ms`)), timeoutMs)
  try {
    return await work(controller.signal)
  } catch (error) {
    outer?.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', abort)
  }
}

const readJson = async (response: Response, requestId: string): Promise<unknown> => {
  let text: string | null
  try {
    text = await readText(response)
  } catch (error) {
    throw new ServiceUnreachableError('the response was interrupted', requestId, error)
  }
  if (text === null) throw new AnswerInvalidError('too long', requestId)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new AnswerInvalidError('not JSON', requestId, error)
  }
}

export const createTransport =
  (dependencies: TransportDependencies): Transport =>
  async (endpoint, call) => {
    const { fetch, timeoutMs, retry, random, wait } = dependencies
    const { method, path, signal } = call
    const requestId = crypto.randomUUID()
    const headers: Record<string, string> = { ...call.headers }
    if (call.body !== undefined) headers['content-type'] = 'application/json'
    if (call.idempotencyKey !== undefined) headers['idempotency-key'] = call.idempotencyKey
    const body = call.body === undefined ? {} : { body: JSON.stringify(call.body) }

    const tryOnce = (): Promise<Answer> =>
      withTimeLimit(timeoutMs, signal, async (limited) => {
        const response = await sendRequest(fetch, endpoint, { method, path, headers, ...body, requestId }, limited)
        const answeredId = response.headers.get('x-request-id') ?? requestId
        return { status: response.status, body: await readJson(response, answeredId), requestId: answeredId }
      })

    const twin = { asked: 0, waitedMs: 0 }
    for (let failures = 0; ; ) {
      try {
        return await tryOnce()
      } catch (error) {
        if (signal?.aborted || !isRetried(error)) throw error
        let delayMs: number | null
        if (isTwinInFlight(error) && retry.tries > 1) {
          delayMs = twinDelayMs(retry, twin, error, random)
          twin.asked += 1
          twin.waitedMs += delayMs ?? 0
        } else {
          failures += 1
          if (failures >= retry.tries) throw error
          delayMs = retryDelayMs(retry, failures, error, random)
        }
        if (delayMs === null) throw error
        await wait(delayMs, signal)
      }
    }
  }
