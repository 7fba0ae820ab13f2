// One's own account: name, password, second factors, and the browsers that are signed in.
import { call } from '../api/client.ts'
import { useForm } from '../data/use-form.ts'
import { checkPassword, PASSWORD_HINT } from '../entry/password.ts'
import { useSession } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Badge, Card, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'
import { Offers } from './offers.tsx'
import { OneTimeCodes } from './one-time-codes.tsx'
import { Passkeys } from './passkeys.tsx'
import { Sessions } from './sessions.tsx'

const Name = () => {
  const { account, refresh } = useSession()
  const form = useForm({
    initial: { name: account.name },
    check: ({ name }) => (name.trim() === '' ? { name: 'Enter your name.' } : {}),
    submit: async ({ name }): Promise<void> => {
      await call('PATCH /me', { body: { name: name.trim() } })
      await refresh()
      say('Name changed')
    },
  })
  return (
    <Card title="Name" text={`You sign in as ${account.email ?? ''}.`}>
      <form {...form.attributes} class="form">
        <TextField
          {...form.text('name')}
          label="As colleagues see it"
          input={{ autocomplete: 'name', maxLength: 100 }}
        />
        <Problem error={form.failure} />
        <div class="form-actions">
          <Button submit busy={form.busy}>
            Change the name
          </Button>
        </div>
      </form>
    </Card>
  )
}

const NO_PASSWORDS = { current_password: '', new_password: '' }

const Password = () => {
  const form = useForm({
    initial: NO_PASSWORDS,
    check: ({ current_password, new_password }) => ({
      ...(current_password === '' ? { current_password: 'Enter the password that you have now.' } : {}),
      ...checkPassword('new_password', new_password),
    }),
    fieldNames: { password: 'new_password' },
    submit: async (body): Promise<void> => {
      await call('PUT /me/password', { body })
      form.reset(NO_PASSWORDS)
      say('Password changed; your other sessions have ended')
    },
  })
  return (
    <Card title="Password" text="Changing it ends your other sessions.">
      <form {...form.attributes} class="form">
        <TextField
          {...form.text('current_password')}
          label="Password now"
          type="password"
          input={{ autocomplete: 'current-password' }}
        />
        <TextField
          {...form.text('new_password')}
          label="New password"
          type="password"
          hint={PASSWORD_HINT}
          input={{ autocomplete: 'new-password', maxLength: 256 }}
        />
        <Problem error={form.failure} />
        <div class="form-actions">
          <Button submit busy={form.busy}>
            Change the password
          </Button>
        </div>
      </form>
    </Card>
  )
}

/** Where else the dashboard stays closed, and what opens it. */
const FactorNeeded = () => {
  const { account, organizations } = useSession()
  const { deployment, organization_ids: ids } = account.second_factor_missing
  if (!deployment && ids.length === 0) return null
  const names = organizations.filter(({ id }) => ids.includes(id)).map(({ name }) => name)
  return (
    <Notice tone="warn" title="Add a second factor">
      <p>
        {deployment
          ? 'A second factor is required here, and your account has none. Until you add one-time codes or a passkey below, everything but this page is closed.'
          : `${names.join(', ')}: a second factor is required there, and your account has none. Add one-time codes or a passkey below.`}
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
