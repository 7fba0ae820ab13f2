// Temporary notifications, also announced to screen readers. Important information is never shown only here.
import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icons.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly link: ToastLink | null
}

interface ToastLink {
  readonly label: string
  readonly href: string
}

const SHOWN_MS = 5_000
let last = 0
let toasts: readonly Toast[] = []
const watchers = new Set<(toasts: readonly Toast[]) => void>()

const change = (next: readonly Toast[]): void => {
  toasts = next
  for (const watcher of watchers) watcher(next)
}

export const say = (text: string, link: ToastLink | null = null): void => {
  const toast = { id: ++last, text, link }
  change([...toasts.slice(-2), toast])
  setTimeout(() => change(toasts.filter(({ id }) => id !== toast.id)), SHOWN_MS)
}

export const Toasts = () => {
  const [shown, setShown] = useState(toasts)
  useEffect(() => {
    watchers.add(setShown)
    return () => {
      watchers.delete(setShown)
    }
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, link }) => (
        <p key={id} class="toast">
          <Icon name="check" size={16} />
          <span>{text}</span> {link !== null && <a href={link.href}>{link.label}</a>}
        </p>
      ))}
    </div>
  )
}
