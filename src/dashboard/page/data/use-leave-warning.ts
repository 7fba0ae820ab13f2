import { useEffect } from 'preact/hooks'
import { guardLeaving } from '../router.ts'

/** Warns before edits are lost. @param scope `window` if the edits survive navigation within the dashboard */
export const useLeaveWarning = (changed: boolean, scope: 'window' | 'everywhere'): void => {
  useEffect(() => {
    if (!changed) return
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    const stop = scope === 'everywhere' ? guardLeaving() : null
    return () => {
      window.removeEventListener('beforeunload', ask)
      stop?.()
    }
  }, [changed, scope])
}
