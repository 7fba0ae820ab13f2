import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Mark } from '../ui/mark.tsx'

interface EntryFrameProps {
  readonly title: string
  readonly lead?: ComponentChildren
  readonly children: ComponentChildren
}

export const EntryFrame = ({ title, lead, children }: EntryFrameProps) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Countersign`
    heading.current?.focus({ preventScroll: true })
  }, [title])
  return (
    <main class="entry">
      <div class="entry-card">
        <p class="entry-brand">
          <Mark /> Countersign
        </p>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {lead !== undefined && <p class="lead">{lead}</p>}
        {children}
      </div>
    </main>
  )
}
