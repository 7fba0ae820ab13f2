// A part of the dashboard that is loaded when it is first shown.
import type { ComponentType, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Loading } from './parts.tsx'
import { Notice } from './problem.tsx'

type Loaded<Properties> = { readonly part: ComponentType<Properties> } | 'failed' | null

export const lazy = <Properties extends object>(
  load: () => Promise<ComponentType<Properties>>,
): ((properties: Properties) => JSX.Element) => {
  let known: ComponentType<Properties> | null = null
  return (properties) => {
    const [loaded, setLoaded] = useState<Loaded<Properties>>(known === null ? null : { part: known })
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
    }, [])
    if (loaded === 'failed') {
      // The service may have been updated since this page was opened: its files have other names now.
      return (
        <Notice
          tone="bad"
          title="This page could not be loaded"
          urgent
          actions={
            <Button small onClick={() => location.reload()}>
              Reload
            </Button>
          }
        >
          <p>The service did not answer, or it was updated since the dashboard was opened.</p>
        </Notice>
      )
    }
    if (loaded === null) return <Loading />
    const Part = loaded.part
    return <Part {...properties} />
  }
}
