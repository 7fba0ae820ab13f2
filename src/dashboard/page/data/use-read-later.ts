// Reading again a while after an answer that is not the last one: one reading at a time, and none without an answer before.
import { useEffect } from 'preact/hooks'

/**
 * @param wanted whether there is more to come
 * @param answer of the reading before: another one for each
 */
export const useReadLater = (wanted: boolean, answer: unknown, afterMs: number, read: () => void): void => {
  useEffect(() => {
    if (!wanted) return
    const timer = setTimeout(read, afterMs)
    return () => clearTimeout(timer)
  }, [wanted, answer])
}
