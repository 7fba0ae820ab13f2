// Requires authentication again before changes of factors, sessions, keys and accounts. A call that needs it waits and
// is then repeated, so that pages are independent of this rule.
import { useEffect, useRef, useState } from 'preact/hooks'
import { onConfirmationNeeded } from '../api/client.ts'
import { lazy } from '../ui/lazy.tsx'

const ConfirmationDialog = lazy(async () => (await import('./confirmation-dialog.tsx')).ConfirmationDialog, {
  meanwhile: null,
})

export const Confirmation = () => {
  const [open, setOpen] = useState(false)
  const waiting = useRef<((confirmed: boolean) => void)[]>([])
  useEffect(
    () =>
      onConfirmationNeeded(() => {
        setOpen(true)
        return new Promise((resolve) => waiting.current.push(resolve))
      }),
    [],
  )
  if (!open) return null
  return (
    <ConfirmationDialog
      onDone={(confirmed) => {
        setOpen(false)
        for (const resolve of waiting.current.splice(0)) resolve(confirmed)
      }}
    />
  )
}
