// A call that needs a recent authentication waits for this dialog and is then repeated, so pages don't handle the rule.
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
