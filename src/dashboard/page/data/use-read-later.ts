// Reads again some time after a provisional response. Reads never overlap, and the first response must have arrived.
import { useEffect } from 'preact/hooks'

/**
 * @param wanted whether another response is expected
 * @param answer previous response, which differs for each read
 */
export const useReadLater = (wanted: boolean, answer: unknown, afterMs: number, read: () => void): void => {
  useEffect(() => {
    if (!wanted) return
    const timer = setTimeout(read, afterMs)
    return () => clearTimeout(timer)
  }, [wanted, answer])
}
