// Component that is loaded when it is first shown.
import type { ComponentChildren, ComponentType, JSX } from 'preact'
import { partLoader } from '../../../pages/use-part.ts'
import { Button } from './button.tsx'
import { Loading } from './parts.tsx'
import { Notice } from './problem.tsx'

interface LazyOptions {
  readonly meanwhile?: ComponentChildren
  /** Whether the first style sheet suffices. */
  readonly isFirst?: boolean
}

// Loads the style sheet for all but the first pages when a component first needs it.
let loading: Promise<void> | null = null

/** Rejects if the service doesn't respond; the next call tries again. */
const loadLateStyles = (): Promise<void> => {
  loading ??= new Promise<void>((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = document.querySelector<HTMLMetaElement>('meta[name="late-styles"]')?.content ?? ''
    link.onload = () => resolve()
    link.onerror = () => {
      link.remove()
      loading = null
      reject(new Error('the style sheet could not be loaded'))
    }
    document.head.append(link)
  })
  return loading
}

export const lazy = <Properties extends object>(
  load: () => Promise<ComponentType<Properties>>,
  { meanwhile = <Loading />, isFirst = false }: LazyOptions = {},
): ((properties: Properties) => JSX.Element) => {
  const { usePart } = partLoader(async () => (await Promise.all([load(), isFirst ? undefined : loadLateStyles()]))[0])
  return (properties) => {
    const loaded = usePart()
    if (loaded.state === 'failed') {
      // Files have new names after an update of the service.
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
          <p>The service did not respond, or it was updated after you opened the dashboard.</p>
        </Notice>
      )
    }
    if (loaded.state === 'loading') return <>{meanwhile}</>
    const Part = loaded.part
    return <Part {...properties} />
  }
}
