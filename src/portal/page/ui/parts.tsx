import type { ButtonHTMLAttributes, ComponentChildren, MouseEventHandler } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useCopy } from '../../../pages/use-copy.ts'
import { useMessages } from '../language.ts'
import { Icon, type IconName } from './icons.tsx'

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'type' | 'icon' | 'onClick'> {
  readonly kind?: 'primary' | 'secondary' | 'quiet' | 'danger'
  readonly icon?: IconName
  readonly trailing?: IconName
  /** While true, the button keeps its size, shows activity, and ignores clicks. */
  readonly busy?: boolean
  readonly submit?: boolean
  readonly onClick?: MouseEventHandler<HTMLButtonElement>
  readonly children: ComponentChildren
}

export const Button = (props: ButtonProps) => {
  const { kind = 'secondary', icon, trailing, busy = false, submit = false, children, onClick, ...rest } = props
  return (
    <button
      {...rest}
      type={submit ? 'submit' : 'button'}
      class={`button button-${kind}`}
      aria-busy={busy}
      aria-disabled={busy}
      onClick={(event) => {
        if (busy) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {busy ? <span class="spinner" aria-hidden="true" /> : icon !== undefined && <Icon name={icon} size={20} />}
      <span class="button-label">{children}</span>
      {trailing !== undefined && !busy && <Icon name={trailing} size={20} />}
    </button>
  )
}

export type Tone = 'info' | 'good' | 'warn' | 'bad'
const TONE_ICONS: Readonly<Record<Tone, IconName>> = { info: 'info', good: 'check', warn: 'alert', bad: 'alert' }

interface NoticeProps {
  readonly tone?: Tone
  readonly title?: string
  readonly icon?: IconName
  /** Scrolled into view and announced immediately, because an action failed. */
  readonly urgent?: boolean
  readonly children?: ComponentChildren
}

const intoView = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' })

export const Notice = ({ tone = 'info', title, icon, urgent = false, children }: NoticeProps) => (
  <div class={`notice notice-${tone}`} role={urgent ? 'alert' : undefined} ref={urgent ? intoView : null}>
    <Icon name={icon ?? TONE_ICONS[tone]} size={22} />
    <div class="notice-body">
      {title !== undefined && <p class="notice-title">{title}</p>}
      {children !== undefined && <div class="notice-text">{children}</div>}
    </div>
  </div>
)

interface ScreenProps {
  readonly title: string
  readonly lead?: ComponentChildren
  readonly emblem?: ComponentChildren
  readonly children?: ComponentChildren
  /** Forward and back buttons, always in the same position. */
  readonly actions?: ComponentChildren
}

/** The heading receives the focus when the screen appears, so that screen readers start there. */
export const Screen = ({ title, lead, emblem, children, actions }: ScreenProps) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [])
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <div class="screen">
      {emblem}
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {lead !== undefined && <p class="lead">{lead}</p>}
      {children}
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
  )
}

interface FieldProps {
  readonly id: string
  readonly label: string
  readonly hint?: string | undefined
  readonly error?: string | undefined
  readonly children: (attributes: {
    readonly id: string
    readonly 'aria-describedby': string | undefined
    readonly 'aria-invalid': boolean
  }) => ComponentChildren
}

export const Field = ({ id, label, hint, error, children }: FieldProps) => {
  const described = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`].filter(Boolean)
  return (
    <div class={`field${error === undefined ? '' : ' field-wrong'}`}>
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children({
        id,
        'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        'aria-invalid': error !== undefined,
      })}
      {error !== undefined && (
        <p class="error" id={`${id}-error`}>
          <Icon name="alert" size={18} />
          {error}
        </p>
      )}
    </div>
  )
}

interface CopyButtonProps {
  readonly text: string
  /** Label for screen readers, if the visible text depends on its context. */
  readonly label?: string
}

export const CopyButton = ({ text, label }: CopyButtonProps) => {
  const { common } = useMessages()
  const [copied, copy] = useCopy(text)
  if (label !== undefined) {
    return (
      <button type="button" class="icon-button icon-button-plain" aria-label={label} onClick={copy}>
        <Icon name={copied ? 'check' : 'copy'} size={20} />
        <span class="sr-only" aria-live="polite">
          {copied ? common.copied : ''}
        </span>
      </button>
    )
  }
  return (
    <Button kind="quiet" icon={copied ? 'check' : 'copy'} onClick={copy}>
      <span aria-live="polite">{copied ? common.copied : common.copy}</span>
    </Button>
  )
}
