// When a failed try is made again: exponential backoff with full jitter, so that callers that failed together do not
// come back together, and never before the service's own Retry-After. One's own earlier try that holds the key is asked
// for more often: its answer may be there any moment, and Retry-After tells when its claim ends at the latest.
import { ArgumentInvalidError, RequestRefusedError, ServiceUnreachableError } from './errors.ts'

export interface RetryPolicy {
  /** How often a call is tried in all; asking for an earlier try that still holds the key does not count. 6 by default. */
  readonly tries: number
  /** The first wait is a random time up to this; the next up to twice as much, and so on. 250 by default. */
  readonly baseDelayMs: number
  /** No random part is longer. 10,000 by default. */
  readonly maxDelayMs: number
  /**
   * A `Retry-After` beyond this is not waited for: the call fails at once. Nor is a try of one's own that holds the key,
   * in all. 60,000 by default.
   */
  readonly maxRetryAfterMs: number
}

const DEFAULTS: RetryPolicy = { tries: 6, baseDelayMs: 250, maxDelayMs: 10_000, maxRetryAfterMs: 60_000 }

/** @throws ArgumentInvalidError */
export const completeRetryPolicy = (wanted: Partial<RetryPolicy> = {}): RetryPolicy => {
  const policy = { ...DEFAULTS, ...wanted }
  for (const [name, value] of Object.entries(policy) as [keyof RetryPolicy, number][]) {
    const minimum = name === 'tries' ? 1 : 0
    if (!Number.isSafeInteger(value) || value < minimum) {
      throw new ArgumentInvalidError(`retry.${name}`, `must be a whole number of at least ${minimum}`)
    }
  }
  return policy
}

/** 502 and 504 are never the service's own: a proxy in front of it got no answer. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

/**
 * Whether the same request may succeed later. A twin in flight is one's own earlier try that was cut off: its answer is
 * what this one is waiting for.
 */
export const isRetried = (error: unknown): boolean =>
  error instanceof ServiceUnreachableError ||
  (error instanceof RequestRefusedError &&
    (RETRIED_STATUSES.has(error.status) || error.code === 'IDEMPOTENCY_IN_FLIGHT'))

/** The form in which dates are sent (RFC 9110 §5.6.7). */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Seconds of a `Retry-After` header: a number, or a date (RFC 9110 §10.2.3). Null when there is none to read. */
export const parseRetryAfter = (header: string | null, nowMs: number = Date.now()): number | null => {
  if (header === null) return null
  if (/^[0-9]{1,9}$/.test(header)) return Number(header)
  const dateMs = HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(dateMs) ? null : Math.max(0, Math.ceil((dateMs - nowMs) / 1000))
}

/**
 * Milliseconds to wait after the failure number `failures` (1 is the first); null when it is not worth waiting.
 * @param random from 0 to 1
 */
export const retryDelayMs = (
  policy: RetryPolicy,
  failures: number,
  error: unknown,
  random: () => number,
): number | null => {
  const jitterMs = random() * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (failures - 1))
  const seconds = error instanceof RequestRefusedError ? error.retryAfterSeconds : null
  if (seconds === null) return jitterMs
  return seconds * 1000 > policy.maxRetryAfterMs ? null : seconds * 1000 + jitterMs
}

/** An earlier try with the same key is being answered, or was cut off and still holds the key for `retryAfterSeconds`. */
export const isTwinInFlight = (error: unknown): error is RequestRefusedError & { readonly retryAfterSeconds: number } =>
  error instanceof RequestRefusedError && error.code === 'IDEMPOTENCY_IN_FLIGHT' && error.retryAfterSeconds !== null

const TWIN_POLL_MS = 1_000

/**
 * Milliseconds until an earlier try is asked for again; null when its claim ends later than anyone waits.
 * @param asked how often it was asked for before this
 * @param waitedMs for it so far
 * @param random from 0 to 1
 */
export const twinDelayMs = (
  policy: RetryPolicy,
  { asked, waitedMs }: { readonly asked: number; readonly waitedMs: number },
  { retryAfterSeconds }: { readonly retryAfterSeconds: number },
  random: () => number,
): number | null => {
  const leftMs = retryAfterSeconds * 1_000
  if (waitedMs + leftMs > policy.maxRetryAfterMs) return null
  return Math.min(leftMs, TWIN_POLL_MS * 2 ** asked, policy.maxDelayMs) + random() * policy.baseDelayMs
}

/** Rejects with the signal's reason as soon as it is aborted. */
export const wait = (delayMs: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason)
      return
    }
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, delayMs)
    signal?.addEventListener('abort', abort, { once: true })
  })
