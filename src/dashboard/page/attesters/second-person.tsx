// Whether attester keys change only when someone else approves.
import { call } from '../api/client.ts'
import { SecondPersonSwitch } from '../approvals/second-person-switch.tsx'
import { useRead } from '../data/use-query.ts'

export const SecondPerson = () => {
  const settings = useRead('GET /deployment/settings')
  return (
    <SecondPersonSwitch
      label="Attester keys change only when another deployment admin approves"
      covers="Attester keys, deployment admins and shared lists change what is signed everywhere."
      settings={settings}
      change={(wanted) => call('PATCH /deployment/settings', { body: { second_person: wanted } })}
    />
  )
}
