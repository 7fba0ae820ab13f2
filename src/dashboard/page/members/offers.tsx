import { call } from '../api/client.ts'
import type { MemberOffer } from '../api/types.ts'
import type { Pages } from '../data/use-pages.ts'
import { ROLE_WORDS, useWorkplace } from '../shell/session.ts'
import { action } from '../ui/actions.tsx'
import { ResourceCard } from '../ui/resource.tsx'
import { time } from '../ui/table.tsx'
import { showAcceptance } from './one-time-link.tsx'
import { roleField } from './person.tsx'

export const Offers = ({ pages }: { readonly pages: Pages<MemberOffer> }) => {
  const { params, may } = useWorkplace()
  if (pages.items === null || pages.items.length === 0) return null
  return (
    <ResourceCard<MemberOffer>
      title="Pending invitations"
      text="These people have an account and become members when they accept."
      pages={pages}
      rowKey={({ id }) => id}
      name={({ email }) => email}
      columns={{
        Email: ({ email }) => <strong>{email}</strong>,
        Role: ({ role }) => ROLE_WORDS[role],
        'Invited by': ({ asked_by_name: name }) => name,
        Invited: time('created_at'),
        Expires: time('expires_at'),
      }}
      mayChange={may('organization-admin')}
      actions={({ id, email, role }) => {
        const one = { ...params, offer: id }
        return [
          action({
            label: 'Change role',
            icon: 'person',
            title: `Change role of ${email}`,
            submit: 'Save',
            fields: { role: roleField(role) },
            run: (body) => call('PATCH /organizations/{organization}/member-offers/{offer}', { params: one, body }),
            done: 'Role changed',
          }),
          action({
            label: 'Create new link',
            icon: 'link',
            run: () => call('POST /organizations/{organization}/member-offers/{offer}/link', { params: one }),
            done: showAcceptance,
          }),
          {
            label: 'Revoke',
            icon: 'trash',
            danger: true,
            title: `Revoke the invitation for ${email}?`,
            submit: 'Revoke invitation',
            text: 'The link that you sent stops working.',
            run: () => call('DELETE /organizations/{organization}/member-offers/{offer}', { params: one }),
            done: 'Invitation revoked',
          },
        ]
      }}
      empty={['people', 'No invitations', '']}
    />
  )
}
