// What a page makes is begun by its key `c`, and by a link that ends in `?new=1`: the search for everything leads there.
import { useEffect } from 'preact/hooks'
import { useSearchParam } from '../router.ts'
import { useShortcut } from './shortcuts.ts'

export const MAKE = '?new=1'

export const useMake = (label: string, run: () => void): void => {
  const [wanted, change] = useSearchParam('new')
  useShortcut('c', label, run)
  useEffect(() => {
    if (wanted === '') return
    // Gone before it begins, so that going back does not begin it again.
    change('')
    run()
  }, [wanted])
}
