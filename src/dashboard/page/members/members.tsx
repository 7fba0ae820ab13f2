// No email is sent: the admin forwards a new member's link.
import { call } from '../api/client.ts'
import type { Member } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { ROLE_WORDS, useSession, useWorkplace } from '../shell/session.ts'
import { action } from '../ui/actions.tsx'
import { ResourcePage } from '../ui/resource.tsx'
import { badge, time } from '../ui/table.tsx'
import { Offers } from './offers.tsx'
import { showAcceptance, showInvitation } from './one-time-link.tsx'
import { PersonName, roleField } from './person.tsx'

export const Members = () => {
  const { params, may } = useWorkplace()
  const { refresh } = useSession()
  /** The user's own role may have changed. */
  const changed = (text: string) => () => {
    void refresh()
    return text
  }
  const pages = useList('GET /organizations/{organization}/members', { params })
  const offers = useList('GET /organizations/{organization}/member-offers', { params })
  return (
    <ResourcePage<Member>
      title="Members"
      lead="Members have access to this organization. Deployment admins have access to all organizations."
      error={offers.error}
      pages={pages}
      rowKey={({ user_id: id }) => id}
      name={({ name }) => name}
      dimmed={({ disabled }) => disabled}
      columns={{
        Name: ({ name, email, user_id: id }) => <PersonName name={name} email={email} id={id} />,
        Role: ({ role }) => ROLE_WORDS[role],
        Status: badge(({ invited, disabled }) => {
          if (disabled) return ['bad', 'Disabled']
          return invited ? ['warn', 'Invited'] : ['good', 'Active']
        }),
        Added: time('created_at'),
      }}
      onChange={offers.reload}
      mayChange={may('organization-admin')}
      create={action({
        label: 'Add member',
        submit: 'Add',
        fields: {
          email: { label: 'Email', type: 'email' },
          name: { label: 'Name', maxLength: 100 },
          role: roleField('viewer'),
        },
        run: (body) => call('POST /organizations/{organization}/members', { params, body }),
        done: ({ invitation, acceptance }) => {
          if (invitation !== null) return showInvitation(invitation)
          return acceptance === null ? 'Member added' : showAcceptance(acceptance)
        },
      })}
      actions={({ user_id: user, name, role, invited }) => {
        const one = { ...params, user }
        return [
          action({
            label: 'Change role',
            icon: 'person',
            title: `Change role of ${name}`,
            submit: 'Save',
            fields: { role: roleField(role) },
            run: (body) => call('PATCH /organizations/{organization}/members/{user}', { params: one, body }),
            done: changed('Role changed'),
          }),
          invited &&
            action({
              label: 'Create new link',
              icon: 'link',
              run: () => call('POST /organizations/{organization}/members/{user}/invitation', { params: one }),
              done: showInvitation,
            }),
          {
            label: 'Remove',
            icon: 'trash',
            danger: true,
            title: `Remove ${name}?`,
            submit: 'Remove member',
            text: 'They lose access to this organization with their next request. Their account remains.',
            run: () => call('DELETE /organizations/{organization}/members/{user}', { params: one }),
            done: changed('Member removed'),
          },
        ]
      }}
      empty={[
        'people',
        'No members',
        'Give each colleague only the access they need. Reviewers decide identity sessions; viewers can only read.',
      ]}
    >
      <Offers pages={offers} />
    </ResourcePage>
  )
}
