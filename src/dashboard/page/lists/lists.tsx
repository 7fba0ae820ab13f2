// Address lists. An organization's `allow` and `deny` lists precede every policy.
import { call } from '../api/client.ts'
import type { AddressList } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { navigate } from '../router.ts'
import { useSession, useWorkplace } from '../shell/session.ts'
import { action } from '../ui/actions.tsx'
import { Badge } from '../ui/parts.tsx'
import { ResourcePage } from '../ui/resource.tsx'
import { time } from '../ui/table.tsx'
import { type ListOwner, listKey } from './list-key.ts'

interface ListsProps {
  readonly owner: ListOwner
  readonly title: string
  readonly lead: string
  readonly mayChange: boolean
  readonly href: (list: AddressList) => string | null
}

const ListsOf = ({ owner, ...page }: ListsProps) => {
  const params = { organization: owner ?? '' }
  return (
    <ResourcePage<AddressList>
      {...page}
      pages={useList(listKey(owner, 'GET', ''), { params })}
      rowKey={({ name, shared }) => `${name} ${shared}`}
      columns={{
        Name: ({ name, shared }) => (
          <>
            <code>{name}</code> {shared && owner !== null && <Badge tone="info">Shared</Badge>}
          </>
        ),
        Description: ({ description }) => description,
        Addresses: { align: 'end', narrow: true, cell: ({ entries }) => entries.toLocaleString('en') },
        'Maintained by': {
          narrow: true,
          cell: ({ kept_by: by }) =>
            by === 'people' ? 'Members' : <Badge>{by === 'source' ? 'Source' : 'Screening'}</Badge>,
        },
        Updated: time('confirmed_at', 'updated_at'),
      }}
      create={action({
        label: 'Create list',
        submit: 'Create',
        fields: {
          name: {
            label: 'Name',
            hint:
              owner === null
                ? 'Policies use this name.'
                : 'Policies use this name. The lists “allow” and “deny” take precedence over every policy of the organization.',
            mono: true,
            maxLength: 64,
            pattern: [/^[a-z][a-z0-9_]*$/, 'Use lowercase letters, digits and underscores, and start with a letter.'],
          },
          description: { label: 'Description', optional: true, maxLength: 200 },
        },
        run: async (body) => {
          const list = await call(listKey(owner, 'POST', ''), { params, body })
          navigate(page.href(list) ?? location.pathname)
        },
      })}
      empty={[
        'list',
        'No lists',
        'Policies look up addresses in lists. Add addresses by hand, upload a file, or set a source to read regularly, such as the US Treasury’s sanctions list.',
      ]}
    />
  )
}

export const Lists = () => {
  const { organization, may, path } = useWorkplace()
  const { account } = useSession()
  return (
    <ListsOf
      owner={organization.id}
      title="Lists"
      lead="Addresses that policies look up. Changes take effect within a second."
      mayChange={may('organization-admin')}
      href={({ name, shared }) => {
        if (!shared) return path(`/lists/${name}`)
        return account.deployment_admin ? `/lists/${name}` : null
      }}
    />
  )
}

export const SharedLists = () => (
  <ListsOf
    owner={null}
    title="Shared lists"
    lead="The policies of all organizations can use these lists, such as sanctions lists."
    mayChange
    href={({ name }) => `/lists/${name}`}
  />
)
