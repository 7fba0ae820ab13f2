// Parts of a page of which one is shown; which one is in the address. Links, not the tab pattern: each part has an address.
import { useSearchParam } from '../router.ts'

export interface Tab {
  readonly id: string
  readonly label: string
  readonly count?: number
}

/** The part that the address names, the first where it names none, and how to change it. */
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
  readonly onChange: (id: string) => void
}

export const Tabs = ({ label, tabs, current, onChange }: TabsProps) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ id, label: text, count }) => (
      <button
        key={id}
        type="button"
        class="tab"
        aria-current={id === current ? 'true' : undefined}
        onClick={() => onChange(id)}
      >
        {text}
        {count !== undefined && <span class="tab-count">{count}</span>}
      </button>
    ))}
  </nav>
)
