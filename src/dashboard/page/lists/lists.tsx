// Lists of addresses: the organization's own, with `allow` and `deny` before every policy, and those that all share.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { AddressList } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { useQuery } from '../data/use-query.ts'
import { navigate } from '../router.ts'
import { useSession, useWorkplace } from '../shell/session.ts'
import { useMake } from '../shell/use-make.ts'
import { Button } from '../ui/button.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Badge, Card, Empty, Page } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { type ListOwner, listKey } from './list-key.ts'

const CreateList = ({
  owner,
  onClose,
  onCreated,
}: {
  readonly owner: ListOwner
  readonly onClose: () => void
  readonly onCreated: (list: AddressList) => void
}) => {
  const form = useForm({
    initial: { name: '', description: '' },
    check: ({ name }) =>
      /^[a-z][a-z0-9_]{0,63}$/.test(name.trim())
        ? {}
        : { name: 'A lower-case letter, then lower-case letters, digits and underscores.' },
    submit: async ({ name, description }): Promise<void> => {
      onCreated(
        await call(listKey(owner, 'POST', ''), {
          params: { organization: owner ?? '' },
          body: { name: name.trim(), ...(description.trim() === '' ? {} : { description: description.trim() }) },
        }),
      )
    },
  })
  return (
    <FormDialog title="Make a list" form={form} submitLabel="Make the list" onClose={onClose}>
      <TextField
        {...form.text('name')}
        label="Name"
        mono
        hint={
          owner === null
            ? 'As policies write it.'
            : 'As policies write it. “allow” and “deny” are special: they come before every policy of the organization.'
        }
        input={{ maxLength: 64, autofocus: true }}
      />
      <TextField {...form.text('description')} label="Description" optional input={{ maxLength: 200 }} />
    </FormDialog>
  )
}

interface ListTableProps {
  readonly owner: ListOwner
  readonly title: string
  readonly lead: string
  readonly mayChange: boolean
  readonly href: (list: AddressList) => string | null
}

const ListsOf = ({ owner, title, lead, mayChange, href }: ListTableProps) => {
  const [creating, setCreating] = useState(false)
  const query = useQuery(
    (signal) => call(listKey(owner, 'GET', ''), { params: { organization: owner ?? '' }, signal }),
    [owner],
  )
  useMake('Make a list', () => {
    if (mayChange) setCreating(true)
  })
  return (
    <Page
      title={title}
      lead={lead}
      actions={
        mayChange && (
          <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
            Make a list
          </Button>
        )
      }
    >
      <Card flush>
        <Loaded query={query}>
          {(value) =>
            value.data.length === 0 ? (
              <Empty
                icon="list"
                title="No lists yet"
                actions={mayChange && <Button onClick={() => setCreating(true)}>Make the first list</Button>}
              >
                <p>
                  A policy looks an address up in a list by its name. Fill one by hand, from a file, or from a source
                  that is read again every day, such as the US Treasury’s sanctions list.
                </p>
              </Empty>
            ) : (
              <Table<AddressList>
                caption={title}
                rows={value.data}
                rowKey={({ name, shared }) => `${name} ${shared}`}
                href={href}
                columns={{
                  Name: ({ name, shared }) => (
                    <>
                      <code>{name}</code> {shared && owner !== null && <Badge tone="info">Shared</Badge>}
                    </>
                  ),
                  Description: ({ description }) => description,
                  Addresses: { align: 'end', narrow: true, cell: ({ entries }) => entries.toLocaleString('en') },
                  'Kept by': {
                    narrow: true,
                    cell: ({ kept_by: by }) =>
                      by === 'people' ? 'People' : <Badge>{by === 'source' ? 'Source' : 'Screening'}</Badge>,
                  },
                  Changed: {
                    narrow: true,
                    cell: ({ updated_at: updated, confirmed_at: confirmed }) => <Time at={confirmed ?? updated} />,
                  },
                }}
              />
            )
          }
        </Loaded>
      </Card>
      {creating && (
        <CreateList
          owner={owner}
          onClose={() => setCreating(false)}
          onCreated={(list) => navigate(href(list) ?? location.pathname)}
        />
      )}
    </Page>
  )
}

export const Lists = () => {
  const { organization, may, path } = useWorkplace()
  const { account } = useSession()
  return (
    <ListsOf
      owner={organization.id}
      title="Lists"
      lead="Addresses that policies look up. A change counts within a second."
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
    lead="Every organization’s policies may read these: sanctions lists above all."
    mayChange
    href={({ name }) => `/lists/${name}`}
  />
)
