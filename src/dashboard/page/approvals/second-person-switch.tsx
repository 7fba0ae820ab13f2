// The rule itself. Both ways are asked about first: it is hard to end again, and it binds everybody.
import { useState } from 'preact/hooks'
import { useAction } from '../data/use-action.ts'
import type { Query } from '../data/use-query.ts'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { CheckField } from '../ui/field.tsx'
import { Card } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'

interface Setting {
  readonly second_person: boolean
}

interface SecondPersonSwitchProps {
  readonly label: string
  /** What waits from then on. */
  readonly covers: string
  readonly settings: Query<Setting>
  /** @throws WaitsForApproval, ApiError with the reason */
  readonly change: (wanted: boolean) => Promise<Setting>
}

export const SecondPersonSwitch = ({ label, covers, settings, change }: SecondPersonSwitchProps) => {
  const [asked, setAsked] = useState<boolean | null>(null)
  const close = (): void => setAsked(null)
  const action = useAction(async () => {
    if (asked === null) return
    settings.set(await change(asked))
    say(asked ? 'A second person is asked from now on' : 'No second person is asked any more')
    close()
  })
  const isOn = settings.value?.second_person === true
  return (
    <Card id="second-person" title="Second person">
      {settings.value === null ? (
        <Problem error={settings.error} retry={settings.reload} />
      ) : (
        <CheckField
          label={label}
          hint="Switching this off again needs an approval itself."
          checked={asked ?? isOn}
          onChecked={(checked) => {
            action.clear()
            setAsked(checked)
          }}
        />
      )}
      {asked !== null && (
        <ConfirmDialog
          title={asked ? 'Ask for a second person?' : 'Stop asking for a second person?'}
          confirmLabel={asked ? 'Ask from now on' : 'Ask for approval'}
          danger={!asked}
          action={action}
          onClose={close}
        >
          {asked ? (
            <>
              <p>{covers} From now on they wait until someone other than the person who asked approves them.</p>
              <p>
                Whoever approves must have been an administrator before, and neither of the two may have invited or let
                the other in again. API keys can no longer make these changes.
              </p>
            </>
          ) : (
            <p>Someone else has to approve this, too. Until then nothing changes.</p>
          )}
        </ConfirmDialog>
      )}
    </Card>
  )
}
