// The way on and back, the same on every step.
import type { ComponentChildren } from 'preact'
import { useMessages } from '../language.ts'
import { Button } from './parts.tsx'

interface StepActionsProps {
  readonly back: (() => void) | null
  readonly onNext?: () => void
  readonly busy?: boolean
  /** Submits the form that it stands in. */
  readonly form?: string
  readonly children?: ComponentChildren
}

export const StepActions = ({ back, onNext, busy = false, form, children }: StepActionsProps) => {
  const { common } = useMessages()
  return (
    <>
      {back !== null && (
        <Button kind="quiet" icon="back" onClick={back}>
          {common.back}
        </Button>
      )}
      <Button
        kind="primary"
        trailing="forward"
        busy={busy}
        submit={form !== undefined}
        {...(form === undefined ? {} : { form })}
        {...(onNext === undefined ? {} : { onClick: onNext })}
      >
        {children ?? common.continue}
      </Button>
    </>
  )
}
