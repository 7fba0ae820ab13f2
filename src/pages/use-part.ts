// Part of a page that is loaded when it is first shown.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

type LoadingPart<Properties> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly retry: () => void }
  | { readonly state: 'loaded'; readonly part: ComponentType<Properties> }

/** Returns a hook that loads a component when it is first shown. `preload` loads it in advance. */
export const partLoader = <Properties>(load: () => Promise<ComponentType<Properties>>) => {
  let known: ComponentType<Properties> | null = null
  const loadAndKeep = async (): Promise<ComponentType<Properties>> => {
    known = await load()
    return known
  }
  /** A failure is reported where the part is shown, which loads it again. */
  const preload = (): void => void loadAndKeep().catch(() => undefined)
  const usePart = (): LoadingPart<Properties> => {
    const [loaded, setLoaded] = useState<{ readonly part: ComponentType<Properties> } | 'failed' | null>(
      known === null ? null : { part: known },
    )
    const [turn, setTurn] = useState(0)
    useEffect(() => {
      let gone = false
      loadAndKeep().then(
        (part) => {
          if (!gone) setLoaded({ part })
        },
        () => {
          if (!gone) setLoaded('failed')
        },
      )
      return () => {
        gone = true
      }
    }, [turn])
    if (loaded === null) return { state: 'loading' }
    if (loaded !== 'failed') return { state: 'loaded', part: loaded.part }
    return {
      state: 'failed',
      retry: () => {
        setLoaded(null)
        setTurn((now) => now + 1)
      },
    }
  }
  return { usePart, preload }
}
