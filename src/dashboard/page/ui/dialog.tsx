// Dialogs: the browser's own, which keeps the focus inside and gives it back, and closes with Escape.
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { WaitsForApproval } from '../api/errors.ts'
import type { Form } from '../data/use-form.ts'
import { Button, type ButtonKind, IconButton } from './button.tsx'
import { Problem } from './problem.tsx'

/** What had the focus before the open dialog: also for a dialog that replaces it, which finds the focus nowhere. */
let lastOpener: HTMLElement | null = null

/** Shows the element as a dialog for as long as it is rendered, and gives the focus back to what had it before. */
export const useModal = (): RefObject<HTMLDialogElement | null> => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const element = dialog.current
    const active = document.activeElement
    const opener = active instanceof HTMLElement && active !== document.body ? active : lastOpener
    lastOpener = opener
    if (element !== null && !element.open) element.showModal()
    return () => {
      element?.close()
      // The browser does it only for as long as the dialog is in the page.
      if (opener?.isConnected === true) opener.focus()
      lastOpener = null
    }
  }, [])
  return dialog
}

interface DialogProps {
  readonly title: string
  /** Left out: it can't be closed but by what is in it. */
  readonly onClose?: () => void
  readonly wide?: boolean
  readonly children: ComponentChildren
}

/** Open for as long as it is rendered. */
export const Dialog = ({ title, onClose, wide = false, children }: DialogProps) => {
  const dialog = useModal()
  const id = useId()
  return (
    <dialog
      ref={dialog}
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        {onClose !== undefined && <IconButton icon="cross" label="Close" onClick={onClose} />}
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}

/** What waits for a second person is no more to be done here: the page says that it waits. */
const useCloseWhenWaiting = (failure: unknown, onClose: () => void): void => {
  const waits = failure instanceof WaitsForApproval
  useEffect(() => {
    if (waits) onClose()
  }, [waits])
}

interface FormDialogProps<Values extends object> {
  readonly title: string
  readonly form: Form<Values>
  readonly submitLabel: string
  readonly submitKind?: ButtonKind
  readonly onClose: () => void
  readonly wide?: boolean
  readonly children: ComponentChildren
}

/** A form in a dialog: what is wrong beyond single fields stands above its buttons. */
export const FormDialog = <Values extends object>(props: FormDialogProps<Values>) => {
  const { title, form, submitLabel, submitKind = 'primary', onClose, wide = false, children } = props
  useCloseWhenWaiting(form.failure, onClose)
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      <form {...form.attributes} class="form">
        {children}
        <Problem error={form.failure} />
        <div class="form-actions">
          <Button kind={submitKind} submit busy={form.busy}>
            {submitLabel}
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
