// Repeated reads of a cached value.
import { systemTimers } from './time.ts'

const RETRY_MS = 1_000

/** @param onError called for each failed `refresh`, which is repeated until it succeeds */
export const createReload = (
  read: () => Promise<void>,
  onError: (error: unknown) => void,
  after = systemTimers.after,
) => {
  let last: Promise<void> = Promise.resolve()
  let cancelRetry = (): void => undefined
  /** Sequential, so that an older result never replaces a newer one. */
  const load = (): Promise<void> => {
    const loading = last.then(read)
    last = loading.catch(() => undefined)
    return loading
  }
  const refresh = (): void => {
    load().catch((error: unknown) => {
      onError(error)
      cancelRetry()
      cancelRetry = after(RETRY_MS, refresh)
    })
  }
  return { load, refresh }
}
