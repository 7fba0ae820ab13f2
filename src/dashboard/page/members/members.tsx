// Who works in the organization, and as what. Nobody is sent anything: a new member’s link is shown once, and whoever adds
// them passes it on.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Member, OneTimeLink } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { usePages } from '../data/use-pages.ts'
import { ROLE_WORDS, type Role, useSession, useWorkplace } from '../shell/session.ts'
import { useMake } from '../shell/use-make.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog, FormDialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { RowMenu } from '../ui/menu.tsx'
import { Badge, Card, Empty, Page } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { AcceptanceDialog, LinkDialog } from './link-dialog.tsx'
import { Offers } from './offers.tsx'
import { RoleField } from './roles.tsx'

/** What was answered, for its dialog. */
type Shown = { readonly kind: 'invitation' | 'acceptance'; readonly link: OneTimeLink }

interface DialogProps {
  readonly onClose: () => void
  readonly onDone: () => void
}

const AddMember = ({ onClose, onDone, onLink }: DialogProps & { readonly onLink: (shown: Shown) => void }) => {
  const { params } = useWorkplace()
  const form = useForm({
    initial: { email: '', name: '', role: 'viewer' as Role },
    check: ({ email, name }) => ({
      ...(email.includes('@') ? {} : { email: 'Enter an email address.' }),
      ...(name.trim() === '' ? { name: 'Enter a name.' } : {}),
    }),
    submit: async ({ email, name, role }): Promise<void> => {
      const { invitation, acceptance } = await call('POST /organizations/{organization}/members', {
        params,
        body: { email: email.trim(), name: name.trim(), role },
      })
      onDone()
      onClose()
      if (invitation !== null) onLink({ kind: 'invitation', link: invitation })
      else if (acceptance !== null) onLink({ kind: 'acceptance', link: acceptance })
      else say('Member added')
    },
  })
  return (
    <FormDialog title="Add a member" form={form} submitLabel="Add the member" onClose={onClose}>
      <TextField {...form.text('email')} label="Email" type="email" input={{ autofocus: true }} />
      <TextField {...form.text('name')} label="Name" input={{ maxLength: 100 }} />
      <RoleField value={form.values.role} onRole={(role) => form.set('role', role)} />
    </FormDialog>
  )
}

const ChangeRole = ({ member, onClose, onDone }: DialogProps & { readonly member: Member }) => {
  const { params } = useWorkplace()
  const { refresh } = useSession()
  const form = useForm({
    initial: { role: member.role },
    submit: async ({ role }): Promise<void> => {
      await call('PATCH /organizations/{organization}/members/{user}', {
        params: { ...params, user: member.user_id },
        body: { role },
      })
      say('Role changed')
      onDone()
      onClose()
      await refresh()
    },
  })
  return (
    <FormDialog title={`Role of ${member.name}`} form={form} submitLabel="Change the role" onClose={onClose}>
      <RoleField value={form.values.role} onRole={(role) => form.set('role', role)} />
    </FormDialog>
  )
}

const RemoveMember = ({ member, onClose, onDone }: DialogProps & { readonly member: Member }) => {
  const { params } = useWorkplace()
  const { refresh } = useSession()
  const action = useAction(async () => {
    await call('DELETE /organizations/{organization}/members/{user}', { params: { ...params, user: member.user_id } })
    say('Member removed')
    onDone()
    onClose()
    await refresh()
  })
  return (
    <ConfirmDialog title={`Remove ${member.name}?`} confirmLabel="Remove the member" action={action} onClose={onClose}>
      <p>From their next request on they can no longer open this organization. Their account stays.</p>
    </ConfirmDialog>
  )
}

type DialogAction = { readonly kind: 'add' } | { readonly kind: 'role' | 'remove'; readonly member: Member }

export const Members = () => {
  const { params, may } = useWorkplace()
  const { account } = useSession()
  const mayChange = may('organization-admin')
  const [dialogAction, setDialogAction] = useState<DialogAction | null>(null)
  const [link, setLink] = useState<Shown | null>(null)
  const pages = usePages(
    (cursor, signal) => call('GET /organizations/{organization}/members', { params, query: { cursor }, signal }),
    [params.organization],
  )
  const offers = usePages(
    (cursor, signal) => call('GET /organizations/{organization}/member-offers', { params, query: { cursor }, signal }),
    [params.organization],
  )
  const inviteAgain = useAction(async ({ user_id: user }: Member) =>
    setLink({
      kind: 'invitation',
      link: await call('POST /organizations/{organization}/members/{user}/invitation', { params: { ...params, user } }),
    }),
  )
  const added = (): void => {
    pages.reload()
    offers.reload()
  }
  const add = (): void => setDialogAction({ kind: 'add' })
  const close = (): void => setDialogAction(null)
  useMake('Add a member', () => {
    if (mayChange) add()
  })
  return (
    <Page
      title="Members"
      lead="Who works in this organization. Deployment admins may do everything here without being members."
      actions={
        mayChange && (
          <Button kind="primary" icon="plus" onClick={add}>
            Add a member
          </Button>
        )
      }
    >
      <Problem error={inviteAgain.failure ?? offers.error} />
      <Card flush>
        <PagedTable<Member>
          caption="Members"
          pages={pages}
          rowKey={({ user_id: id }) => id}
          dimmed={({ disabled }) => disabled}
          columns={[
            {
              label: 'Name',
              cell: ({ name, email, user_id: id }) => (
                <span class="cell-stack">
                  <strong>
                    {name} {account.id === `user:${id}` && <Badge>You</Badge>}
                  </strong>
                  <span class="faint">{email}</span>
                </span>
              ),
            },
            { label: 'Role', cell: ({ role }) => ROLE_WORDS[role] },
            {
              label: 'Status',
              narrow: true,
              cell: ({ invited, disabled }) => {
                if (disabled) return <Badge tone="bad">Disabled</Badge>
                return invited ? <Badge tone="warn">Invited</Badge> : <Badge tone="good">Active</Badge>
              },
            },
            { label: 'Added', narrow: true, cell: ({ created_at: at }) => <Time at={at} /> },
            {
              label: '',
              align: 'end',
              narrow: true,
              cell: (member) =>
                mayChange && (
                  <RowMenu
                    label={`Actions for ${member.name}`}
                    items={[
                      {
                        label: 'Change the role…',
                        icon: 'person',
                        onSelect: () => setDialogAction({ kind: 'role', member }),
                      },
                      ...(member.invited
                        ? [
                            {
                              label: 'Make another link',
                              icon: 'link' as const,
                              onSelect: () => inviteAgain.run(member),
                            },
                          ]
                        : []),
                      {
                        label: 'Remove…',
                        icon: 'trash',
                        danger: true,
                        onSelect: () => setDialogAction({ kind: 'remove', member }),
                      },
                    ]}
                  />
                ),
            },
          ]}
          empty={
            <Empty
              icon="people"
              title="No members yet"
              actions={mayChange && <Button onClick={add}>Add the first</Button>}
            >
              <p>Add colleagues with the least that they need: reviewers decide people’s sessions, viewers look.</p>
            </Empty>
          }
        />
      </Card>
      <Offers pages={offers} onLink={(made) => setLink({ kind: 'acceptance', link: made })} />
      {dialogAction?.kind === 'add' && <AddMember onClose={close} onDone={added} onLink={setLink} />}
      {dialogAction?.kind === 'role' && (
        <ChangeRole member={dialogAction.member} onClose={close} onDone={pages.reload} />
      )}
      {dialogAction?.kind === 'remove' && (
        <RemoveMember member={dialogAction.member} onClose={close} onDone={pages.reload} />
      )}
      {link?.kind === 'invitation' && (
        <LinkDialog title="Pass this link on" link={link.link} onClose={() => setLink(null)} />
      )}
      {link?.kind === 'acceptance' && (
        <AcceptanceDialog title="They were asked" link={link.link} onClose={() => setLink(null)} />
      )}
    </Page>
  )
}
