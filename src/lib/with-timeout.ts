// Waits for work up to a time limit. The work itself continues, so use this only if a late result is harmless.
import { lastingTimers, type Timers } from './time.ts'

const LATE = Symbol('late')

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
