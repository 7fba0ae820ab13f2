// Warns before edits are lost.
import { useEffect } from 'preact/hooks'
import { guardLeaving } from '../router.ts'

/** @param scope `window` for edits that persist while the user visits other pages of the dashboard */
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
