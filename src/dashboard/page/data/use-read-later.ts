// Reads again some time after a provisional response; reads never overlap.
import { useEffect } from 'preact/hooks'

/** @param answer the previous response; a new response restarts the timer */
export const useReadLater = (wanted: boolean, answer: unknown, afterMs: number, read: () => void): void => {
  useEffect(() => {
    if (!wanted) return
    const timer = setTimeout(read, afterMs)
    return () => clearTimeout(timer)
  }, [wanted, answer])
}
