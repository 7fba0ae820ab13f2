// Asks before the window closes on something that was written and not saved.
import { useEffect } from 'preact/hooks'

export const useLeaveWarning = (changed: boolean): void => {
  useEffect(() => {
    if (!changed) return
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [changed])
}
