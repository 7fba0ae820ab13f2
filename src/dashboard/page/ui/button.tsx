import type { ButtonHTMLAttributes, ComponentChildren, MouseEventHandler } from 'preact'
import { Icon, type IconName } from './icons.tsx'

export type ButtonKind = 'primary' | 'secondary' | 'quiet' | 'danger'

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'type' | 'icon' | 'onClick'> {
  readonly kind?: ButtonKind
  readonly icon?: IconName
  readonly small?: boolean
  /** While true, the button keeps its size, shows activity, and ignores clicks. */
  readonly busy?: boolean
  readonly submit?: boolean
  readonly onClick?: MouseEventHandler<HTMLButtonElement>
  readonly children: ComponentChildren
}

export const Button = (props: ButtonProps) => {
  const { kind = 'secondary', icon, small = false, busy = false, submit = false, children, onClick, ...rest } = props
  return (
    <button
      {...rest}
      type={submit ? 'submit' : 'button'}
      class={`button button-${kind}${small ? ' button-small' : ''}`}
      aria-busy={busy}
      aria-disabled={busy}
      onClick={(event) => {
        if (busy) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {busy ? <span class="spinner" aria-hidden="true" /> : icon !== undefined && <Icon name={icon} size={16} />}
      <span class="button-label">{children}</span>
    </button>
  )
}

interface ButtonLinkProps {
  readonly href: string
  readonly kind?: ButtonKind
  readonly icon?: IconName
  readonly small?: boolean
  /** Name of the downloaded file; empty for the server's name. */
  readonly download?: string
  readonly away?: boolean
  readonly children: ComponentChildren
}

export const ButtonLink = ({ href, kind = 'secondary', icon, small, download, away, children }: ButtonLinkProps) => (
  <a
    href={href}
    class={`button button-${kind}${small === true ? ' button-small' : ''}`}
    {...(download === undefined ? {} : { download })}
    {...(away === true ? { target: '_blank', rel: 'noreferrer' } : {})}
  >
    {icon !== undefined && <Icon name={icon} size={16} />}
    <span class="button-label">{children}</span>
  </a>
)

interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'type' | 'icon' | 'onClick' | 'label'> {
  readonly icon: IconName
  /** Accessible name, also shown as the tooltip. */
  readonly label: string
  readonly onClick: MouseEventHandler<HTMLButtonElement>
}

export const IconButton = ({ icon, label, onClick, ...rest }: IconButtonProps) => (
  <button {...rest} type="button" class="icon-button" aria-label={label} title={label} onClick={onClick}>
    <Icon name={icon} />
  </button>
)
