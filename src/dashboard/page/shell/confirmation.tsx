// Asks who is signed in to prove it once more: before factors, sessions, keys and accounts are changed. A call that needs it
// waits for the answer and is then made again, so that no page has to know which calls these are.
import { useEffect, useRef, useState } from 'preact/hooks'
import { onConfirmationNeeded } from '../api/client.ts'
import { lazy } from '../ui/lazy.tsx'

const ConfirmationDialog = lazy(async () => (await import('./confirmation-dialog.tsx')).ConfirmationDialog, {
  meanwhile: null,
})

export const Confirmation = () => {
  const [open, setOpen] = useState(false)
  /** Calls that wait for the one answer. */
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
