import { call } from '../api/client.ts'
import { knownQuery } from '../data/use-query.ts'
import { PASSWORD_HINT, PASSWORD_PATTERN } from '../entry/password.ts'
import { useSession } from '../shell/session.ts'
import { Badge, Page } from '../ui/parts.tsx'
import { Notice } from '../ui/problem.tsx'
import { SettingsCard } from '../ui/settings-card.tsx'
import { Offers } from './offers.tsx'
import { OneTimeCodes } from './one-time-codes.tsx'
import { Passkeys } from './passkeys.tsx'
import { Sessions } from './sessions.tsx'

const Name = () => {
  const { account, refresh } = useSession()
  return (
    <SettingsCard
      title="Name"
      text={`You sign in as ${account.email ?? ''}.`}
      query={knownQuery(account, () => void refresh())}
      fields={({ name }) => ({ name: { label: 'Name', autocomplete: 'name', maxLength: 100, value: name } })}
      save={(body) => call('PATCH /me', { body })}
      done="Name saved"
    />
  )
}

const Password = () => (
  <SettingsCard
    title="Password"
    text="Changing your password ends your other sessions."
    query={knownQuery<unknown>({})}
    fields={() => ({
      current_password: { label: 'Current password', type: 'password', autocomplete: 'current-password' },
      password: {
        label: 'New password',
        type: 'password',
        hint: PASSWORD_HINT,
        autocomplete: 'new-password',
        maxLength: 256,
        pattern: PASSWORD_PATTERN,
      },
    })}
    save={({ current_password, password }) =>
      call('PUT /me/password', { body: { current_password, new_password: password } })
    }
    submit="Change password"
    done="Password changed. Your other sessions have ended."
  />
)

const FactorNeeded = () => {
  const { account, organizations } = useSession()
  const { deployment, organization_ids: ids } = account.second_factor_missing
  if (!deployment && ids.length === 0) return null
  const names = organizations.filter(({ id }) => ids.includes(id)).map(({ name }) => name)
  return (
    <Notice tone="warn" title="Add a second factor">
      <p>
        {deployment
          ? 'A second factor is required. Add one-time codes or a passkey below to use the other pages.'
          : `A second factor is required in ${names.join(', ')}. Add one-time codes or a passkey below.`}
      </p>
    </Notice>
  )
}

export const AccountPage = () => {
  const { account } = useSession()
  return (
    <Page
      title="Account and security"
      badge={account.deployment_admin ? <Badge tone="info">Deployment admin</Badge> : undefined}
    >
      <FactorNeeded />
      <Offers />
      <div class="columns">
        <Name />
        <Password />
      </div>
      <div class="columns">
        <OneTimeCodes />
        <Passkeys />
      </div>
      <Sessions />
    </Page>
  )
}
