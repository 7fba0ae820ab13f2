// Runs a function at intervals while the tab is visible.
import { useEffect, useRef } from 'preact/hooks'

export const useInterval = (everyMs: number, run: () => void): void => {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const turn = (): void => {
      if (!document.hidden) latest.current()
    }
    const timer = setInterval(turn, everyMs)
    // Runs when the tab becomes visible again, so that the page is current.
    document.addEventListener('visibilitychange', turn)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', turn)
    }
  }, [everyMs])
}
