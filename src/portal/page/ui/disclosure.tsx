// Collapsible section whose content is created when it is opened.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Icon, type IconName, IconTile } from './icons.tsx'

interface DisclosureProps {
  readonly icon: IconName
  readonly title: string
  readonly text?: string
  readonly startOpen?: boolean
  readonly children: () => ComponentChildren
}

export const Disclosure = ({ icon, title, text, startOpen = false, children }: DisclosureProps) => {
  const [open, setOpen] = useState(startOpen)
  return (
    <details class="disclosure" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <IconTile name={icon} tone="plain" />
        <span class="disclosure-title">
          {title}
          {text !== undefined && <small class="muted">{text}</small>}
        </span>
        <Icon name="down" size={20} />
      </summary>
      {open && <div class="disclosure-body">{children()}</div>}
    </details>
  )
}
