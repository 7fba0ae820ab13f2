// Something done again and again while the page is looked at: never in a tab in the background.
import { useEffect, useRef } from 'preact/hooks'

export const useInterval = (everyMs: number, run: () => void): void => {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const turn = (): void => {
      if (!document.hidden) latest.current()
    }
    const timer = setInterval(turn, everyMs)
    // Whoever comes back to the tab sees how it is now.
    document.addEventListener('visibilitychange', turn)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', turn)
    }
  }, [everyMs])
}
