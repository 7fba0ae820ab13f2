// Actions from a description, run immediately or after a dialog.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { WaitsForApproval } from '../api/errors.ts'
import type { FieldErrors } from '../data/use-form.ts'
import { Button, type ButtonKind } from './button.tsx'
import { Dialog, FormDialog } from './dialog.tsx'
import { type FieldSpecs, FormFields, useFields, type ValuesOf } from './form-fields.tsx'
import type { IconName } from './icons.tsx'
import type { MenuItem } from './menu.tsx'
import { Problem } from './problem.tsx'
import { SecretDialog } from './secret.tsx'
import { say } from './toast.tsx'

/** A temporary notification, a dialog to show next (from which `back` returns to the form), or nothing. */
export type Outcome = string | ((close: () => void, back: () => void) => ComponentChildren) | null

export interface Action<Specs extends FieldSpecs = FieldSpecs, Answer = unknown> {
  readonly label: string
  readonly icon?: IconName
  readonly danger?: boolean
  /** Title of the dialog. Without a title or fields, the action runs immediately. */
  readonly title?: string
  /** Consequences, and whether the action can be undone. */
  readonly text?: ComponentChildren
  /** Defaults to `label`. */
  readonly submit?: string
  readonly fields?: Specs
  /** Returns errors that concern several fields, by field. */
  readonly check?: (values: ValuesOf<Specs>) => FieldErrors
  /** Returns the meaning of the entered values, shown below the fields. */
  readonly notice?: (values: ValuesOf<Specs>) => ComponentChildren
  readonly run: (values: ValuesOf<Specs>) => Promise<Answer>
  readonly done?: string | ((answer: Answer) => Outcome)
}

export const action = <const Specs extends FieldSpecs, Answer>(description: Action<Specs, Answer>): Action =>
  description as unknown as Action

const outcomeOf = ({ done }: Action, answer: unknown): Outcome =>
  typeof done === 'function' ? done(answer) : (done ?? null)

const needsDialog = ({ title, fields }: Action): boolean => title !== undefined || fields !== undefined

interface ActionDialogProps {
  readonly action: Action
  readonly onClose: () => void
  readonly onDone?: () => void
}

export const ActionDialog = ({ action, onClose, onDone }: ActionDialogProps) => {
  const { label, title = label, text, submit = label, danger = false, notice } = action
  const [next, setNext] = useState<Exclude<Outcome, string>>(null)
  const fields = useFields(
    action.fields ?? {},
    async (values) => {
      const outcome = outcomeOf(action, await action.run(values))
      onDone?.()
      if (typeof outcome === 'function') {
        setNext(() => outcome)
        return
      }
      if (outcome !== null) say(outcome)
      onClose()
    },
    action.check,
  )
  if (next !== null) return <>{next(onClose, () => setNext(null))}</>
  return (
    <FormDialog
      title={title}
      form={fields.form}
      submitLabel={submit}
      submitKind={danger ? 'danger' : 'primary'}
      onClose={onClose}
    >
      {text !== undefined && <div class="confirm-text">{typeof text === 'string' ? <p>{text}</p> : text}</div>}
      <FormFields fields={fields} autofocus />
      {notice?.(fields.values)}
    </FormDialog>
  )
}

/** @param onDone called after a success, to reload changed data */
export const useActions = (onDone?: () => void) => {
  const [opened, setOpened] = useState<Action | null>(null)
  const [result, setResult] = useState<ComponentChildren>(null)
  const [busy, setBusy] = useState(false)
  const close = (): void => {
    setOpened(null)
    setResult(null)
  }
  const runNow = async (action: Action): Promise<void> => {
    setBusy(true)
    try {
      const outcome = outcomeOf(action, await action.run({}))
      onDone?.()
      if (typeof outcome === 'function') setResult(outcome(close, close))
      else if (outcome !== null) say(outcome)
    } catch (error) {
      if (error instanceof WaitsForApproval) return
      setResult(
        <Dialog title={action.label} onClose={close}>
          <Problem error={error} />
        </Dialog>,
      )
    } finally {
      setBusy(false)
    }
  }
  return {
    start: (action: Action) => {
      if (needsDialog(action)) setOpened(action)
      else if (!busy) void runNow(action)
    },
    busy,
    /** Whether an action runs or its dialog is open. */
    isPending: busy || opened !== null,
    dialog: opened === null ? result : <ActionDialog action={opened} onClose={close} {...(onDone && { onDone })} />,
  }
}

/** Starts a single action. An open dialog follows changes to its description. */
export const useStarter = (action: Action | undefined, onDone?: () => void) => {
  const [isOpen, setOpen] = useState(false)
  const { start, busy, dialog } = useActions(onDone)
  const close = (): void => setOpen(false)
  return {
    start: (): void => {
      if (action === undefined) return
      if (needsDialog(action)) setOpen(true)
      else start(action)
    },
    busy,
    dialog:
      isOpen && action !== undefined ? (
        <ActionDialog action={action} onClose={close} {...(onDone && { onDone })} />
      ) : (
        dialog
      ),
  }
}

export const showSecret =
  (title: string, label: string, text: string | null | undefined, lead?: ComponentChildren): Outcome =>
  (close) => <SecretDialog title={title} label={label} text={text ?? ''} lead={lead} onClose={close} />

interface ActionButtonProps {
  readonly action: Action
  readonly onDone?: () => void
  readonly kind?: ButtonKind
  readonly small?: boolean
}

export const ActionButton = ({ action, onDone, kind = 'secondary', small = false }: ActionButtonProps) => {
  const { start, busy, dialog } = useStarter(action, onDone)
  return (
    <>
      <Button
        kind={kind}
        small={small}
        busy={busy}
        {...(action.icon === undefined ? {} : { icon: action.icon })}
        onClick={start}
      >
        {action.label}
      </Button>
      {dialog}
    </>
  )
}

/** An ellipsis indicates a dialog. */
export const menuItems = (actions: readonly (Action | false)[], start: (action: Action) => void): readonly MenuItem[] =>
  actions
    .filter((each) => each !== false)
    .map((each) => ({
      label: needsDialog(each) ? `${each.label}…` : each.label,
      danger: each.danger ?? false,
      ...(each.icon === undefined ? {} : { icon: each.icon }),
      onSelect: () => start(each),
    }))
