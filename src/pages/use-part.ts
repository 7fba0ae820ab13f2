// A part of a page that is loaded when it is first shown.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

export type LoadingPart<Properties> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly retry: () => void }
  | { readonly state: 'loaded'; readonly part: ComponentType<Properties> }

/** Loads once for all who show it. The result is a hook. */
export const partLoader = <Properties>(load: () => Promise<ComponentType<Properties>>) => {
  let known: ComponentType<Properties> | null = null
  return function usePart(): LoadingPart<Properties> {
    const [loaded, setLoaded] = useState<{ readonly part: ComponentType<Properties> } | 'failed' | null>(
      known === null ? null : { part: known },
    )
    const [turn, setTurn] = useState(0)
    useEffect(() => {
      let gone = false
      load().then(
        (part) => {
          known = part
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
}
