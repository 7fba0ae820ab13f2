// Starts a page’s creation dialog with the key `c`, or with a link that ends in `?new=1`, as in the command palette.
import { useEffect } from 'preact/hooks'
import { useSearchParam } from '../router.ts'
import { useShortcut } from './shortcuts.ts'

export const MAKE = '?new=1'

export const useMake = (label: string, run: (() => void) | null): void => {
  const [wanted, change] = useSearchParam('new')
  useShortcut('c', label, run)
  useEffect(() => {
    if (wanted === '' || run === null) return
    // Removed first, so that going back doesn't start the creation again.
    change('')
    run()
  }, [wanted])
}
