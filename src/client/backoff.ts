// Exponential backoff with full jitter, but never before Retry-After. While the client's own earlier attempt holds the
// idempotency key, it polls more often, because the answer may arrive at any moment.
import { ArgumentInvalidError, RequestRefusedError, ServiceUnreachableError } from './errors.ts'

export interface RetryPolicy {
  /** Attempts per call, excluding polls for an earlier attempt. Defaults to 6. */
  readonly tries: number
  /** Maximum first delay in milliseconds, doubled with each attempt. Defaults to 250. */
  readonly baseDelayMs: number
  /** Maximum of each delay in milliseconds. Defaults to 10,000. */
  readonly maxDelayMs: number
  /** Longest accepted `Retry-After`, and longest wait for an earlier attempt, in milliseconds. Defaults to 60,000. */
  readonly maxRetryAfterMs: number
}

const DEFAULTS: RetryPolicy = { tries: 6, baseDelayMs: 250, maxDelayMs: 10_000, maxRetryAfterMs: 60_000 }

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

/** 502 and 504 come from a proxy without a response from the service. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

/**
 * Returns whether the request may succeed later. `IDEMPOTENCY_IN_FLIGHT`: the client's own interrupted attempt is
 * running.
 */
export const isRetried = (error: unknown): boolean =>
  error instanceof ServiceUnreachableError ||
  (error instanceof RequestRefusedError &&
    (RETRIED_STATUSES.has(error.status) || error.code === 'IDEMPOTENCY_IN_FLIGHT'))

/** RFC 9110 §5.6.7. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Returns the seconds of a `Retry-After` header (RFC 9110 §10.2.3); null if it is missing or malformed. */
export const parseRetryAfter = (header: string | null, nowMs: number = Date.now()): number | null => {
  if (header === null) return null
  if (/^[0-9]{1,9}$/.test(header)) return Number(header)
  const dateMs = HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(dateMs) ? null : Math.max(0, Math.ceil((dateMs - nowMs) / 1000))
}

/**
 * Returns null if the call must not be retried. @param failures starts at 1 @param random returns a number from 0 to 1
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

/** Returns whether an earlier attempt with the same key holds it for `retryAfterSeconds`. */
export const isTwinInFlight = (error: unknown): error is RequestRefusedError & { readonly retryAfterSeconds: number } =>
  error instanceof RequestRefusedError && error.code === 'IDEMPOTENCY_IN_FLIGHT' && error.retryAfterSeconds !== null

const TWIN_POLL_MS = 1_000

/**
 * Returns the delay before the next poll for an earlier attempt; null beyond the longest permitted wait. @param asked
 * number of previous polls @param waitedMs total wait so far
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

/** Rejects with the signal's reason when aborted. */
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
