// A part of the page that is loaded when it is first shown.
import type { ComponentType, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useMessages } from '../language.ts'
import { Button, Notice } from './parts.tsx'

type Loaded<Properties> = { readonly part: ComponentType<Properties> } | 'failed' | null

export const lazy = <Properties extends object>(
  load: () => Promise<ComponentType<Properties>>,
): ((properties: Properties) => JSX.Element) => {
  let known: ComponentType<Properties> | null = null
  return (properties) => {
    const { common, errors } = useMessages()
    const [loaded, setLoaded] = useState<Loaded<Properties>>(known === null ? null : { part: known })
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
    if (loaded === 'failed') {
      return (
        <Notice tone="bad" urgent>
          <p>{errors.network}</p>
          <Button
            onClick={() => {
              setLoaded(null)
              setTurn((now) => now + 1)
            }}
          >
            {common.tryAgain}
          </Button>
        </Notice>
      )
    }
    if (loaded === null) {
      return (
        <p class="waiting" role="status">
          <span class="spinner" aria-hidden="true" /> {common.loading}
        </p>
      )
    }
    const Part = loaded.part
    return <Part {...properties} />
  }
}
