import type { ComponentChildren } from 'preact'
import { problemText, WaitsForApproval } from '../api/errors.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icons.tsx'

export type Tone = 'info' | 'good' | 'warn' | 'bad'
const ICONS: Readonly<Record<Tone, IconName>> = { info: 'info', good: 'check', warn: 'alert', bad: 'alert' }

interface NoticeProps {
  readonly tone?: Tone
  readonly title?: string
  /** Announced by screen readers immediately, because an action failed. */
  readonly urgent?: boolean
  readonly actions?: ComponentChildren
  readonly children?: ComponentChildren
}

export const Notice = ({ tone = 'info', title, urgent = false, actions, children }: NoticeProps) => (
  <div class={`notice notice-${tone}`} role={urgent ? 'alert' : undefined}>
    <Icon name={ICONS[tone]} />
    <div class="notice-body">
      {title !== undefined && <p class="notice-title">{title}</p>}
      {children !== undefined && <div class="notice-text">{children}</div>}
      {actions !== undefined && <div class="notice-actions">{actions}</div>}
    </div>
  </div>
)

interface ProblemProps {
  readonly error: unknown
  readonly retry?: () => void
}

export const Problem = ({ error, retry }: ProblemProps) => {
  if (error === null || error === undefined) return null
  // ChangeWaits shows it above the page.
  if (error instanceof WaitsForApproval) return null
  const { title, text, requestId } = problemText(error)
  return (
    <Notice
      tone="bad"
      title={title}
      urgent
      actions={
        retry === undefined ? undefined : (
          <Button small icon="turn" onClick={retry}>
            Try again
          </Button>
        )
      }
    >
      <p>{text}</p>
      {requestId !== null && requestId !== '' && (
        <p class="faint">
          Request ID: <code>{requestId}</code>
        </p>
      )}
    </Notice>
  )
}
