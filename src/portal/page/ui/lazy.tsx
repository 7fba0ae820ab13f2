import type { ComponentType, JSX } from 'preact'
import { partLoader } from '../../../pages/use-part.ts'
import { useMessages } from '../language.ts'
import { Button, Notice } from './parts.tsx'

type LazyPart<Properties> = ((properties: Properties) => JSX.Element) & { readonly preload: () => void }

export const lazy = <Properties extends object>(
  load: () => Promise<ComponentType<Properties>>,
): LazyPart<Properties> => {
  const { usePart, preload } = partLoader(load)
  const Part = (properties: Properties) => {
    const { common, errors } = useMessages()
    const loaded = usePart()
    if (loaded.state === 'failed') {
      return (
        <Notice tone="bad" urgent>
          <p>{errors.network}</p>
          <Button onClick={loaded.retry}>{common.tryAgain}</Button>
        </Notice>
      )
    }
    if (loaded.state === 'loading') {
      return (
        <p class="waiting" role="status">
          <span class="spinner" aria-hidden="true" /> {common.loading}
        </p>
      )
    }
    const Loaded = loaded.part
    return <Loaded {...properties} />
  }
  return Object.assign(Part, { preload })
}
