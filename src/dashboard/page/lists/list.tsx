import { counted } from '../../../lib/counted.ts'
import { addressFor, call } from '../api/client.ts'
import type { AddressList } from '../api/types.ts'
import { type Query, useRead } from '../data/use-query.ts'
import type { PageProps } from '../pages.ts'
import { navigate } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { type Action, ActionButton } from '../ui/actions.tsx'
import { ButtonLink } from '../ui/button.tsx'
import { Badge, Card, Facts, Loading, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { Entries } from './entries.tsx'
import { type ListOwner, type ListParts, listKey, listParams } from './list-key.ts'
import { Source } from './source.tsx'
import { uploadList } from './upload-list.tsx'

const MAINTAINERS = { source: 'Maintained by its source', screening: 'Maintained by screening' } as const

const deleteList = (parts: ListParts, back: string): Action => ({
  label: 'Delete',
  icon: 'trash',
  danger: true,
  title: `Delete ${parts.list.name}?`,
  submit: 'Delete list',
  text: `This deletes ${counted(parts.list.entries, 'address', 'addresses')}. Policies that use this list will fail. This can’t be undone: to keep a copy, export the list first.`,
  run: async () => {
    await call(listKey(parts.owner, 'DELETE', '/{list}'), { params: listParams(parts) })
    navigate(back)
  },
  done: 'List deleted',
})

const ListBody = ({ parts, back }: { readonly parts: ListParts; readonly back: string }) => {
  const { owner, list, mayChange, onChange } = parts
  const content = addressFor(listKey(owner, 'GET', '/{list}/content'), { params: listParams(parts) })
  return (
    <Page
      title={list.name}
      crumbs={[{ label: owner === null ? 'Shared lists' : 'Lists', href: back }]}
      badge={list.kept_by === 'people' ? undefined : <Badge>{MAINTAINERS[list.kept_by]}</Badge>}
      {...(list.description === '' ? {} : { lead: list.description })}
      actions={
        <>
          <ButtonLink icon="download" href={content} download="">
            Export
          </ButtonLink>
          {mayChange && list.kept_by === 'people' && <ActionButton action={uploadList(parts)} onDone={onChange} />}
          {mayChange && <ActionButton action={deleteList(parts, back)} />}
        </>
      }
    >
      {owner !== null && (list.name === 'allow' || list.name === 'deny') && (
        <Notice>
          <p>
            This list takes precedence over every policy of the organization: its wallets are always{' '}
            {list.name === 'allow' ? 'allowed' : 'denied'}.
          </p>
        </Notice>
      )}
      <Card>
        <Facts
          items={[
            ['Addresses', list.entries.toLocaleString('en')],
            ['Version', String(list.version)],
            ['Updated', <Time key="updated" at={list.updated_at} />],
          ]}
        />
      </Card>
      <Entries {...parts} />
      <Source {...parts} />
    </Page>
  )
}

interface ListOfProps {
  readonly owner: ListOwner
  readonly query: Query<AddressList>
  readonly mayChange: boolean
  readonly back: string
}

const ListOf = ({ owner, query: { value, error, reload }, mayChange, back }: ListOfProps) =>
  value === null ? (
    <Page title="List" crumbs={[{ label: 'Lists', href: back }]}>
      {error === null ? <Loading /> : <Problem error={error} retry={reload} />}
    </Page>
  ) : (
    <ListBody parts={{ owner, list: value, mayChange, onChange: reload }} back={back} />
  )

export const ListPage = ({ params: { list = '' } }: PageProps) => {
  const { params, organization, may, path } = useWorkplace()
  const query = useRead('GET /organizations/{organization}/lists/{list}', { params: { ...params, list } })
  return <ListOf owner={organization.id} query={query} mayChange={may('organization-admin')} back={path('/lists')} />
}

export const SharedListPage = ({ params: { list = '' } }: PageProps) => (
  <ListOf owner={null} query={useRead('GET /lists/{list}', { params: { list } })} mayChange back="/lists" />
)
