// A part of the dashboard that is loaded when it is first shown.
import type { ComponentType, JSX } from 'preact'
import { partLoader } from '../../../pages/use-part.ts'
import { Button } from './button.tsx'
import { Loading } from './parts.tsx'
import { Notice } from './problem.tsx'

export const lazy = <Properties extends object>(
  load: () => Promise<ComponentType<Properties>>,
): ((properties: Properties) => JSX.Element) => {
  const { usePart } = partLoader(load)
  return (properties) => {
    const loaded = usePart()
    if (loaded.state === 'failed') {
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
    if (loaded.state === 'loading') return <Loading />
    const Part = loaded.part
    return <Part {...properties} />
  }
}
