// Modal dialogs based on the dialog element, which traps the focus and closes on Escape.
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { WaitsForApproval } from '../api/errors.ts'
import type { Form } from '../data/use-form.ts'
import { Button, type ButtonKind, IconButton } from './button.tsx'
import { Problem } from './problem.tsx'

/** Focused before the dialog opened; kept for a dialog that replaces it and can't determine the element. */
let lastOpener: HTMLElement | null = null

/** Shows a modal dialog while it is rendered, then restores the focus. */
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
      // The browser restores the focus only while the dialog is in the document.
      if (opener?.isConnected === true) opener.focus()
      lastOpener = null
    }
  }, [])
  return dialog
}

interface DialogProps {
  readonly title: string
  /** If undefined, only the content of the dialog can close it. */
  readonly onClose?: () => void
  readonly wide?: boolean
  readonly children: ComponentChildren
}

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

/** Closes the dialog if the change waits for a second person, which the page then reports. */
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

/** Errors that don't concern a single field are above the buttons. */
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
