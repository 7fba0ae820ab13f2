import type { ComponentChildren } from 'preact'
import { useMessages } from '../language.ts'
import { Button } from './parts.tsx'

interface StepActionsProps {
  readonly back: (() => void) | null
  readonly onNext?: () => void
  readonly busy?: boolean
  /** Less prominent while the step is incomplete; a click then lists the missing parts. */
  readonly quiet?: boolean
  readonly form?: string
  readonly children?: ComponentChildren
}

export const StepActions = ({ back, onNext, busy = false, quiet = false, form, children }: StepActionsProps) => {
  const { common } = useMessages()
  return (
    <>
      {back !== null && (
        <Button kind="quiet" icon="back" onClick={back}>
          {common.back}
        </Button>
      )}
      <Button
        kind={quiet ? 'secondary' : 'primary'}
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
