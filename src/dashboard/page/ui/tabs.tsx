// Parts of a page. They are links rather than the ARIA tab pattern, because each part has a URL.
import { useContext, useEffect, useRef } from 'preact/hooks'
import { type Place, PlaceContext, useSearchParam } from '../router.ts'

export interface Tab {
  readonly id: string
  readonly label: string
  readonly count?: number
}

/** Defaults to the first part. */
export const useTab = (tabs: readonly Tab[]): readonly [id: string, change: (id: string) => void] => {
  const [named, change] = useSearchParam('tab')
  const first = tabs[0]?.id ?? ''
  const id = tabs.some((tab) => tab.id === named) ? named : first
  return [id, (next) => change(next === first ? '' : next)]
}

interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly current: string
}

/** Returns the URL of a part; the first part has the URL of the page itself. */
const hrefOf = ({ path, search }: Place, id: string, first: boolean): string => {
  const parameters = new URLSearchParams(search)
  if (first) parameters.delete('tab')
  else parameters.set('tab', id)
  return parameters.size === 0 ? path : `${path}?${parameters}`
}

export const Tabs = ({ label, tabs, current }: TabsProps) => {
  const place = useContext(PlaceContext)
  const ref = useRef<HTMLElement>(null)
  // On a phone, the current tab may be outside of the scrolled bar.
  useEffect(() => ref.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }), [current])
  return (
    <nav ref={ref} class="tabs" aria-label={label}>
      {tabs.map(({ id, label: text, count }, index) => (
        <a
          key={id}
          class="tab"
          href={hrefOf(place, id, index === 0)}
          aria-current={id === current ? 'page' : undefined}
        >
          {text}
          {count !== undefined && <span class="tab-count">{count}</span>}
        </a>
      ))}
    </nav>
  )
}
