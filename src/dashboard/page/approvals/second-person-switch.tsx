// The rule itself: switched on at once, switched off only when a second person approves that, too.
import { useState } from 'preact/hooks'
import type { Approval } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import type { Query } from '../data/use-query.ts'
import { CheckField } from '../ui/field.tsx'
import { Card } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { isApproval, sayOutcome } from './second-person.ts'

interface Setting {
  readonly second_person: boolean
}

interface SecondPersonSwitchProps {
  readonly label: string
  readonly settings: Query<Setting>
  readonly change: (wanted: boolean) => Promise<Setting | Approval>
}

export const SecondPersonSwitch = ({ label, settings, change }: SecondPersonSwitchProps) => {
  // Shown as wanted while it is on its way, and then as it is.
  const [pending, setPending] = useState<boolean | null>(null)
  const action = useAction(async (wanted: boolean) => {
    setPending(wanted)
    try {
      const answer = await change(wanted)
      if (!isApproval(answer)) settings.set(answer)
      sayOutcome(answer, wanted ? 'A second person is asked from now on' : 'No second person is asked any more')
    } finally {
      setPending(null)
    }
  })
  return (
    <Card title="Second person">
      {settings.value === null ? (
        <Problem error={settings.error} retry={settings.reload} />
      ) : (
        <CheckField
          label={label}
          hint="Switching this off again needs an approval itself."
          checked={pending ?? settings.value.second_person}
          onChecked={(checked) => action.run(checked)}
        />
      )}
      <Problem error={action.failure} />
    </Card>
  )
}
