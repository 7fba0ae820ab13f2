// All accounts of the deployment: who may administer it, and how someone who lost everything comes in again.

import { useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { OneTimeLink, User } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { usePages } from '../data/use-pages.ts'
import { DeploymentSecondFactor } from '../organizations/second-factor.tsx'
import { useSession } from '../shell/session.ts'
import { useMake } from '../shell/use-make.ts'
import { Button } from '../ui/button.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { CheckField, TextField } from '../ui/field.tsx'
import { RowMenu } from '../ui/menu.tsx'
import { Badge, Card, Empty, Page } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { LinkDialog } from './link-dialog.tsx'

interface DialogProps {
  readonly onClose: () => void
  readonly onDone: () => void
  readonly onLink: (link: OneTimeLink) => void
}

const AddUser = ({ onClose, onDone, onLink }: DialogProps) => {
  const form = useForm({
    initial: { email: '', name: '', deployment_admin: false },
    check: ({ email, name }) => ({
      ...(email.includes('@') ? {} : { email: 'Enter an email address.' }),
      ...(name.trim() === '' ? { name: 'Enter a name.' } : {}),
    }),
    submit: async ({ email, name, deployment_admin }): Promise<void> => {
      const { invitation } = await call('POST /users', {
        body: { email: email.trim(), name: name.trim(), deployment_admin },
      })
      onDone()
      onClose()
      if (invitation !== null) onLink(invitation)
    },
  })
  return (
    <FormDialog title="Add an account" form={form} submitLabel="Add the account" onClose={onClose}>
      <TextField {...form.text('email')} label="Email" type="email" input={{ autofocus: true }} />
      <TextField {...form.text('name')} label="Name" input={{ maxLength: 100 }} />
      <CheckField
        label="Administers the deployment"
        hint="Everything in every organization, attester keys, other accounts."
        checked={form.values.deployment_admin}
        onChecked={(checked) => form.set('deployment_admin', checked)}
      />
    </FormDialog>
  )
}

const RecoverUser = ({ user, onClose, onDone, onLink }: DialogProps & { readonly user: User }) => {
  const form = useForm({
    initial: { remove_second_factors: false },
    submit: async (body): Promise<void> => {
      const link = await call('POST /users/{user}/recovery', { params: { user: user.id }, body })
      onDone()
      onClose()
      onLink(link)
    },
  })
  return (
    <FormDialog title={`Let ${user.name} in again`} form={form} submitLabel="Make the link" onClose={onClose}>
      <p class="confirm-text">
        You get a link with which they set a new password; their sessions end when they do. Be sure who asks you for it.
      </p>
      <CheckField
        label="Also remove their one-time codes and passkeys"
        hint="When those are lost as well, or when the account is to become a deployment admin and an organization made it."
        checked={form.values.remove_second_factors}
        onChecked={(checked) => form.set('remove_second_factors', checked)}
      />
    </FormDialog>
  )
}

type DialogAction = { readonly kind: 'add' } | { readonly kind: 'recover'; readonly user: User }

export const Users = () => {
  const { account } = useSession()
  const [dialogAction, setDialogAction] = useState<DialogAction | null>(null)
  const [link, setLink] = useState<OneTimeLink | null>(null)
  const pages = usePages((cursor, signal) => call('GET /users', { query: { cursor }, signal }), [])
  const change = useAction(async (user: User, body: { deployment_admin?: boolean; disabled?: boolean }) => {
    await call('PATCH /users/{user}', { params: { user: user.id }, body })
    say('Account changed')
    pages.reload()
  })
  const endSessions = useAction(async ({ id }: User) => {
    const { ended } = await call('DELETE /users/{user}/sessions', { params: { user: id } })
    say(counted(ended, 'session ended', 'sessions ended'))
  })
  const close = (): void => setDialogAction(null)
  useMake('Add an account', () => setDialogAction({ kind: 'add' }))
  const dialog = { onClose: close, onDone: pages.reload, onLink: setLink }
  return (
    <Page
      title="Accounts"
      lead="Everyone who can sign in. What they may do in an organization is said there, under Members."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setDialogAction({ kind: 'add' })}>
          Add an account
        </Button>
      }
    >
      <Problem error={change.failure ?? endSessions.failure} />
      <Card flush>
        <PagedTable<User>
          caption="Accounts"
          pages={pages}
          rowKey={({ id }) => id}
          dimmed={({ disabled_at: at }) => at !== null}
          columns={[
            {
              label: 'Name',
              cell: ({ id, name, email }) => (
                <span class="cell-stack">
                  <strong>
                    {name} {account.id === `user:${id}` && <Badge>You</Badge>}
                  </strong>
                  <span class="faint">{email}</span>
                </span>
              ),
            },
            {
              label: 'Role',
              cell: ({ deployment_admin: admin }) => (admin ? <Badge tone="info">Deployment admin</Badge> : 'Member'),
            },
            {
              label: 'Status',
              narrow: true,
              cell: ({ disabled_at: disabled, has_password: taken }) => {
                if (disabled !== null) return <Badge tone="bad">Disabled</Badge>
                return taken ? <Badge tone="good">Active</Badge> : <Badge tone="warn">Invited</Badge>
              },
            },
            { label: 'One-time codes', narrow: true, cell: ({ has_totp: on }) => (on ? 'On' : 'Off') },
            { label: 'Added', narrow: true, cell: ({ created_at: at }) => <Time at={at} /> },
            {
              label: '',
              align: 'end',
              narrow: true,
              cell: (user) => (
                <RowMenu
                  label={`Actions for ${user.name}`}
                  items={[
                    {
                      label: user.deployment_admin ? 'Make an ordinary member' : 'Make deployment admin',
                      icon: 'approve',
                      onSelect: () => change.run(user, { deployment_admin: !user.deployment_admin }),
                    },
                    {
                      label: 'Let them in again…',
                      icon: 'link',
                      onSelect: () => setDialogAction({ kind: 'recover', user }),
                    },
                    { label: 'End all their sessions', icon: 'leave', onSelect: () => endSessions.run(user) },
                    {
                      label: user.disabled_at === null ? 'Disable' : 'Enable again',
                      icon: 'lock',
                      danger: user.disabled_at === null,
                      onSelect: () => change.run(user, { disabled: user.disabled_at === null }),
                    },
                  ]}
                />
              ),
            },
          ]}
          empty={
            <Empty icon="people" title="No accounts">
              <p>There is at least yours.</p>
            </Empty>
          }
        />
      </Card>
      <DeploymentSecondFactor />
      {dialogAction?.kind === 'add' && <AddUser {...dialog} />}
      {dialogAction?.kind === 'recover' && <RecoverUser user={dialogAction.user} {...dialog} />}
      {link !== null && <LinkDialog title="Pass this link on" link={link} onClose={() => setLink(null)} />}
    </Page>
  )
}
