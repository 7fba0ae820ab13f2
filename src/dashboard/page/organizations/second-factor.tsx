import { call } from '../api/client.ts'
import { useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { SwitchCard } from '../ui/settings-card.tsx'

const SWITCH = {
  id: 'second-factor',
  title: 'Second factor',
  isOn: ({ required }: { readonly required: boolean }) => required,
  states: { on: 'A second factor is required.', off: 'A second factor is not required.' },
  action: (wanted: boolean) => ({
    label: 'Second factor',
    done: wanted ? 'Second factor required' : 'Second factor not required',
  }),
}
const OWN_FIRST =
  'Users without a second factor can sign in only to add one. To turn this on, you must have one ' + 'yourself.'

export const OrganizationSecondFactor = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { params } = useWorkplace()
  const query = useRead('GET /organizations/{organization}/second-factor-rule', { params })
  return (
    <SwitchCard
      {...SWITCH}
      label="Require one-time codes or a passkey for all members"
      hint={
        query.value?.required_everywhere === true
          ? 'The deployment requires a second factor regardless of this setting.'
          : OWN_FIRST
      }
      query={query}
      mayChange={mayChange}
      change={(required) =>
        call('PUT /organizations/{organization}/second-factor-rule', { params, body: { required } })
      }
    />
  )
}

export const DeploymentSecondFactor = () => (
  <SwitchCard
    {...SWITCH}
    label="Require one-time codes or a passkey for all accounts"
    hint={`Applies to every organization. ${OWN_FIRST}`}
    query={useRead('GET /deployment/second-factor-rule')}
    change={(required) => call('PUT /deployment/second-factor-rule', { body: { required } })}
  />
)
