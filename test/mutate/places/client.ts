// The client that users install: retries, following a session.
import { type Place, placesOf } from '../place.ts'

export const client: readonly Place[] = [
  ...placesOf(['test/client/follow.test.ts'], 'src/client/follow.ts', [
    [
      'a stream that ends is opened again at once',
      'await dependencies.wait(delayMs, signal)',
      'signal?.throwIfAborted()',
    ],
    [
      'the wait does not grow',
      'reconnectDelayMs(dependencies, failures, failure, retryMs)',
      'reconnectDelayMs(dependencies, 1, failure, retryMs)',
    ],
    ['an event does not begin the waits anew', '        failures = 0\n', ''],
    [
      'a stream that never said anything is tried for ever',
      'if (lastData === null && failures >= retry.tries) throw failure',
      '',
    ],
    [
      'the server’s own wait is not kept',
      'Math.max(delayMs, Math.min(retryMs ?? 0, retry.maxDelayMs) * (0.5 + random() / 2))',
      'delayMs',
    ],
    ['what was told before is told again', 'if (event.data === lastData) continue', ''],
    ['it goes on after the end', 'if (FINAL_STATUSES.has(state.status)) return', ''],
  ]),
  ...placesOf(['test/client/retry.test.ts'], 'src/client/backoff.ts', [
    ['a refusal is tried again', 'RETRIED_STATUSES.has(error.status) ||', 'error.status >= 400 ||'],
    [
      'Retry-After is not kept',
      'seconds * 1000 > policy.maxRetryAfterMs ? null : seconds * 1000 + jitterMs',
      'jitterMs',
    ],
    ['a claim that ends too late is waited for', 'if (waitedMs + leftMs > policy.maxRetryAfterMs) return null', ''],
  ]),
  ...placesOf(['test/client/retry.test.ts', 'test/client/client.test.ts'], 'src/client/transport.ts', [
    ['a try too many', 'if (failures >= retry.tries) throw error', 'if (failures > retry.tries) throw error'],
    [
      'a retry has another key',
      "if (call.idempotencyKey !== undefined) headers['idempotency-key'] = call.idempotencyKey",
      '',
    ],
  ]),
]
