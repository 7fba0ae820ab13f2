// Escape, a click elsewhere, or a choice closes the menu; the arrow keys move within it.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'

export interface MenuItem {
  readonly label: string
  readonly icon?: IconName
  readonly danger?: boolean
  readonly current?: boolean
  /** If undefined, the item is an action. */
  readonly href?: string
  readonly onSelect?: () => void
}

interface MenuProps {
  /** Accessible label, if the content of the button isn't sufficient. */
  readonly label?: string
  readonly face: ComponentChildren
  readonly faceClass: string
  readonly items: readonly MenuItem[]
  readonly side?: 'start' | 'end'
  readonly up?: boolean
}

export const Menu = ({ label, face, faceClass, items, side = 'start', up = false }: MenuProps) => {
  const [open, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const id = useId()
  useEffect(() => {
    if (!open) return
    root.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus()
    const outside = (event: Event): void => {
      if (!(root.current?.contains(event.target as Node) ?? false)) setOpen(false)
    }
    document.addEventListener('pointerdown', outside)
    return () => document.removeEventListener('pointerdown', outside)
  }, [open])

  const close = (): void => {
    setOpen(false)
    root.current?.querySelector<HTMLElement>('button')?.focus()
  }
  const move = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      event.preventDefault()
      close()
      return
    }
    if (event.key === 'Tab') setOpen(false)
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const all = [...(root.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])]
    const at = all.indexOf(document.activeElement as HTMLElement)
    all[(at + step + all.length) % all.length]?.focus()
  }

  return (
    <div class="menu" ref={root}>
      <button
        type="button"
        class={faceClass}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={label}
        title={label}
        onClick={() => setOpen(!open)}
      >
        {face}
      </button>
      {open && (
        <div id={id} role="menu" class={`menu-list menu-${side}${up ? ' menu-up' : ''}`} tabIndex={-1} onKeyDown={move}>
          {items.map((item) => (
            <MenuEntry key={item.label} item={item} close={close} />
          ))}
        </div>
      )}
    </div>
  )
}

const MenuEntry = ({ item, close }: { readonly item: MenuItem; readonly close: () => void }) => {
  const { label, icon, danger = false, current = false, href, onSelect } = item
  const face = (
    <>
      {icon !== undefined && <Icon name={icon} size={16} />}
      <span class="menu-label">{label}</span>
      {current && <Icon name="check" size={16} />}
    </>
  )
  const className = danger ? 'menu-item menu-danger' : 'menu-item'
  return href === undefined ? (
    <button
      type="button"
      role="menuitem"
      class={className}
      tabIndex={-1}
      onClick={() => {
        close()
        onSelect?.()
      }}
    >
      {face}
    </button>
  ) : (
    <a role="menuitem" class={className} tabIndex={-1} href={href} onClick={close}>
      {face}
    </a>
  )
}

export const RowMenu = ({ label, items }: { readonly label: string; readonly items: readonly MenuItem[] }) => (
  <Menu label={label} face={<Icon name="more" />} faceClass="icon-button" items={items} side="end" />
)
