// Follows a session over any number of connections, without repeating a status (spec, Events: client behavior).
import { isRetried, type RetryPolicy, retryDelayMs, type wait } from './backoff.ts'
import type { Endpoint } from './endpoint.ts'
import { AnswerInvalidError, ServiceUnreachableError } from './errors.ts'
import { type EventConnectionOptions, readEventConnection } from './event-connection.ts'
import { FINAL_STATUSES, readSessionState } from './identity-calls.ts'
import type { SessionState } from './identity-types.ts'
import type { Fetch } from './request.ts'

export interface FollowDependencies {
  readonly fetch: Fetch
  readonly endpoint: Endpoint
  readonly path: string
  readonly timeoutMs: number
  readonly quietMs: number
  readonly retry: RetryPolicy
  readonly random: () => number
  readonly wait: typeof wait
  readonly signal: AbortSignal | undefined
}

const parseState = (data: string, requestId: string): SessionState => {
  let body: unknown
  try {
    body = JSON.parse(data)
  } catch (error) {
    throw new AnswerInvalidError('an event is not JSON', requestId, error)
  }
  return readSessionState({ body, requestId })
}

/** Returns the server's delay with jitter, or the backoff if that is longer. */
const reconnectDelayMs = (
  { retry, random }: FollowDependencies,
  failures: number,
  error: unknown,
  retryMs: number | null,
): number | null => {
  const delayMs = retryDelayMs(retry, failures, error, random)
  return delayMs === null ? null : Math.max(delayMs, Math.min(retryMs ?? 0, retry.maxDelayMs) * (0.5 + random() / 2))
}

/**
 * After the first event, reconnects without limit. @throws RequestRefusedError, AnswerInvalidError;
 * ServiceUnreachableError after the last attempt; the signal's reason if aborted
 */
export async function* followSession(dependencies: FollowDependencies): AsyncGenerator<SessionState, void, void> {
  const { fetch, endpoint, path, timeoutMs, quietMs, retry, signal } = dependencies
  let lastEventId: string | null = null
  let lastData: string | null = null
  let retryMs: number | null = null
  let failures = 0
  for (;;) {
    signal?.throwIfAborted()
    const requestId = crypto.randomUUID()
    const connection: EventConnectionOptions = {
      fetch,
      endpoint,
      path,
      requestId,
      lastEventId,
      openMs: timeoutMs,
      quietMs,
      signal,
    }
    let failure: unknown = new ServiceUnreachableError('the stream ended', requestId)
    try {
      for await (const event of readEventConnection(connection)) {
        lastEventId = event.lastEventId
        retryMs = event.retryMs ?? retryMs
        // A new connection starts with the current status, which may have been received already.
        if (event.data === lastData) continue
        lastData = event.data
        failures = 0
        const state = parseState(event.data, requestId)
        yield state
        if (FINAL_STATUSES.has(state.status)) return
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (!isRetried(error)) throw error
      failure = error
    }
    failures += 1
    if (lastData === null && failures >= retry.tries) throw failure
    const delayMs = reconnectDelayMs(dependencies, failures, failure, retryMs)
    if (delayMs === null) throw failure
    await dependencies.wait(delayMs, signal)
  }
}
