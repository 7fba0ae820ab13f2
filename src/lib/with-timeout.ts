// Waits for work no longer than a limit. The work itself goes on: only use this where its late result does no harm.
import { lastingTimers, type Timers } from './time.ts'

const LATE = Symbol('late')

/**
 * @param onTimeout makes the result after `limitMs`, or throws
 * @throws what the work throws within the limit, and what `onTimeout` throws
 */
export const withTimeout = async <Result, Late>(
  work: Result | Promise<Result>,
  limitMs: number,
  onTimeout: () => Late,
  after: Timers['after'] = lastingTimers.after,
): Promise<Result | Late> => {
  const late = Promise.withResolvers<typeof LATE>()
  const cancel = after(limitMs, () => late.resolve(LATE))
  try {
    const first = await Promise.race([work, late.promise])
    return first === LATE ? onTimeout() : first
  } finally {
    cancel()
  }
}
