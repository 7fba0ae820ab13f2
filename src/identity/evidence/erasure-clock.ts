// Stores the time of the last erasure of evidence, because erasure is irreversible and a process may start while its
// clock is ahead.
import { ClockAheadError, isoSeconds } from '../../lib/time.ts'

const ERASURE_CLOCK = 'erasure_clock'
const DAY_SECONDS = 86_400

interface ErasureClockStore {
  read(name: string): Promise<string | null>
  replace(name: string, value: string): Promise<void>
}

/**
 * Call before each erasure, at least daily. A clock more than a day ahead of the last erasure is trusted only after it
 * has run for a day without another such jump. A jump of less than a day doesn't count. @throws ClockAheadError
 */
export const requireErasureClock = async (store: ErasureClockStore, nowSeconds: number): Promise<void> => {
  const stored = (await store.read(ERASURE_CLOCK))?.split(' ').map(Number) ?? []
  const [erasedSeconds = nowSeconds, seenSeconds = nowSeconds, waitingSinceSeconds = nowSeconds] = stored
  const isAhead = nowSeconds - erasedSeconds > DAY_SECONDS
  const isWaiting = seenSeconds > erasedSeconds && nowSeconds - seenSeconds <= DAY_SECONDS
  const sinceSeconds = isWaiting ? Math.min(waitingSinceSeconds, nowSeconds) : nowSeconds
  if (isAhead && nowSeconds - sinceSeconds < DAY_SECONDS) {
    await store.replace(ERASURE_CLOCK, `${erasedSeconds} ${nowSeconds} ${sinceSeconds}`)
    const until = isoSeconds(sinceSeconds + DAY_SECONDS)
    throw new ClockAheadError(
      `the last erasure was at ${isoSeconds(erasedSeconds)}; nothing is erased until ${until}, in case the clock is wrong`,
    )
  }
  await store.replace(ERASURE_CLOCK, `${nowSeconds} ${nowSeconds} ${nowSeconds}`)
}
