import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'
import type { Tone } from './problem.tsx'

interface PageProps {
  readonly title: string
  /** Visible heading, if it must not appear in the browser's history, such as a person's name. */
  readonly heading?: ComponentChildren
  readonly lead?: ComponentChildren
  readonly crumbs?: readonly { readonly label: string; readonly href: string }[]
  readonly badge?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

/** The heading receives the focus when the page appears, so that screen readers start there. */
export const Page = ({ title, heading = title, lead, crumbs = [], badge, actions, children }: PageProps) => {
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    ref.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [])
  useEffect(() => {
    document.title = `${title} · Countersign`
  }, [title])
  return (
    <div class="page">
      <header class="page-head">
        <div class="page-title">
          {crumbs.length > 0 && (
            <nav class="crumbs" aria-label="Breadcrumb">
              {crumbs.map(({ label, href }) => (
                <a key={href} href={href}>
                  {label}
                </a>
              ))}
            </nav>
          )}
          <h1 ref={ref} tabIndex={-1}>
            {heading} {badge}
          </h1>
          {lead !== undefined && <p class="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

interface CardProps {
  /** Fragment for links to the card. */
  readonly id?: string
  readonly title?: ComponentChildren
  readonly text?: ComponentChildren
  readonly actions?: ComponentChildren
  /** Omits the inner margin, for tables. */
  readonly flush?: boolean
  readonly children?: ComponentChildren
}

export const Card = ({ id, title, text, actions, flush = false, children }: CardProps) => (
  <section id={id} class={flush ? 'card card-flush' : 'card'}>
    {(title !== undefined || actions !== undefined) && (
      <header class="card-head">
        <div>
          {title !== undefined && <h2>{title}</h2>}
          {text !== undefined && <p class="card-text">{text}</p>}
        </div>
        {actions !== undefined && <div class="card-actions">{actions}</div>}
      </header>
    )}
    {children !== undefined && <div class="card-body">{children}</div>}
  </section>
)

interface EmptyProps {
  readonly icon: IconName
  readonly title: string
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

export const Empty = ({ icon, title, actions, children }: EmptyProps) => (
  <div class="empty">
    <Icon name={icon} size={28} />
    <p class="empty-title">{title}</p>
    <div class="empty-text">{children}</div>
    {actions !== undefined && <div class="empty-actions">{actions}</div>}
  </div>
)

export const Badge = ({ tone, children }: { readonly tone?: Tone | 'plain'; readonly children: ComponentChildren }) => (
  <span class={`badge badge-${tone ?? 'plain'}`}>{children}</span>
)

export const Facts = ({
  items,
}: {
  readonly items: readonly (readonly [name: string, value: ComponentChildren])[]
}) => (
  <dl class="facts">
    {items.map(([name, value]) => (
      <div key={name} class="fact">
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

/** Shown only after a short delay. */
export const Loading = ({ label = 'Loading' }: { readonly label?: string }) => (
  <p class="loading" role="status">
    <span class="spinner" aria-hidden="true" /> {label}
  </p>
)

export const Key = ({ children }: { readonly children: string }) => <kbd class="key">{children}</kbd>
