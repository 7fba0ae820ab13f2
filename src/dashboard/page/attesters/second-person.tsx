// Whether attester keys change only when someone else approves.
import { call } from '../api/client.ts'
import { isApproval, sayOutcome } from '../approvals/second-person.ts'
import { useAction } from '../data/use-action.ts'
import { useQuery } from '../data/use-query.ts'
import { CheckField } from '../ui/field.tsx'
import { Card } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'

export const SecondPerson = () => {
  const settings = useQuery((signal) => call('GET /deployment/settings', { signal }), [])
  const change = useAction(async (wanted: boolean) => {
    const answer = await call('PATCH /deployment/settings', { body: { second_person: wanted } })
    if (!isApproval(answer)) settings.set(answer)
    sayOutcome(answer, wanted ? 'A second person is asked from now on' : 'No second person is asked any more')
  })
  return (
    <Card title="Second person">
      {settings.value === null ? (
        <Problem error={settings.error} retry={settings.reload} />
      ) : (
        <CheckField
          label="Attester keys change only when another deployment admin approves"
          hint="Switching this off again needs an approval itself."
          checked={settings.value.second_person}
          onChecked={(checked) => change.run(checked)}
        />
      )}
      <Problem error={change.failure} />
    </Card>
  )
}
