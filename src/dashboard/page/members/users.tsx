import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { User } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { DeploymentSecondFactor } from '../organizations/second-factor.tsx'
import { action } from '../ui/actions.tsx'
import { Badge } from '../ui/parts.tsx'
import { ResourcePage } from '../ui/resource.tsx'
import { badge, time } from '../ui/table.tsx'
import { showInvitation } from './one-time-link.tsx'
import { PersonName } from './person.tsx'

export const Users = () => {
  const pages = useList('GET /users')
  return (
    <ResourcePage<User>
      title="Accounts"
      lead="Everyone who can sign in. Access to an organization is managed under its Members."
      pages={pages}
      rowKey={({ id }) => id}
      name={({ name }) => name}
      dimmed={({ disabled_at: at }) => at !== null}
      columns={{
        Name: ({ id, name, email }) => <PersonName name={name} email={email} id={id} />,
        Role: ({ deployment_admin: admin }) => (admin ? <Badge tone="info">Deployment admin</Badge> : 'Member'),
        Status: badge(({ disabled_at: disabled, has_password: accepted }) => {
          if (disabled !== null) return ['bad', 'Disabled']
          return accepted ? ['good', 'Active'] : ['warn', 'Invited']
        }),
        'One-time codes': { narrow: true, cell: ({ has_totp: on }) => (on ? 'On' : 'Off') },
        Created: time('created_at'),
      }}
      create={action({
        label: 'Create account',
        submit: 'Create',
        fields: {
          email: { label: 'Email', type: 'email' },
          name: { label: 'Name', maxLength: 100 },
          deployment_admin: {
            label: 'Deployment admin',
            hint: 'Manages all organizations, attester keys and accounts.',
            check: true,
          },
        },
        run: (body) => call('POST /users', { body }),
        done: ({ invitation }) => (invitation === null ? 'Account created' : showInvitation(invitation)),
      })}
      actions={({ id: user, name, deployment_admin: admin, disabled_at: disabled }) => [
        {
          label: admin ? 'Remove deployment admin' : 'Make deployment admin',
          icon: 'approve',
          run: () => call('PATCH /users/{user}', { params: { user }, body: { deployment_admin: !admin } }),
          done: 'Account changed',
        },
        action({
          label: 'Recover account',
          icon: 'link',
          title: `Recover the account of ${name}`,
          text: 'You will get a link for setting a new password, which also ends their sessions. Verify the person’s identity first.',
          submit: 'Create link',
          fields: {
            remove_second_factors: {
              label: 'Remove one-time codes and passkeys',
              hint: 'Select this if they are lost. It is also required before an account that an organization created can become a deployment admin.',
              check: true,
            },
          },
          run: (body) => call('POST /users/{user}/recovery', { params: { user }, body }),
          done: showInvitation,
        }),
        action({
          label: 'End all sessions',
          icon: 'leave',
          run: () => call('DELETE /users/{user}/sessions', { params: { user } }),
          done: ({ ended }) => counted(ended, 'session ended', 'sessions ended'),
        }),
        {
          label: disabled === null ? 'Disable' : 'Enable',
          icon: 'lock',
          danger: disabled === null,
          run: () => call('PATCH /users/{user}', { params: { user }, body: { disabled: disabled === null } }),
          done: 'Account changed',
        },
      ]}
      empty={['people', 'No accounts', '']}
    >
      <DeploymentSecondFactor />
    </ResourcePage>
  )
}
