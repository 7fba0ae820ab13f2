// One list: what is in it, single entries, whole files, the source it is read from, and its end.
import { useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { addressFor, call } from '../api/client.ts'
import type { AddressList } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { type Query, useQuery } from '../data/use-query.ts'
import type { PageProps } from '../pages.ts'
import { navigate } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { Badge, Card, Facts, Loading, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { Entries } from './entries.tsx'
import { type ListOwner, listKey } from './list-key.ts'
import { type ListParts, listParams } from './list-parts.ts'
import { Source } from './source.tsx'
import { UploadList } from './upload-list.tsx'

const RemoveList = ({
  parts,
  back,
  onClose,
}: {
  readonly parts: ListParts
  readonly back: string
  readonly onClose: () => void
}) => {
  const { owner, list } = parts
  const action = useAction(async () => {
    await call(listKey(owner, 'DELETE', '/{list}'), { params: listParams(parts) })
    say('List removed')
    navigate(back)
  })
  return (
    <ConfirmDialog title={`Remove ${list.name}?`} confirmLabel="Remove the list" action={action} onClose={onClose}>
      <p>
        It has {counted(list.entries, 'address that goes', 'addresses that go')} with it. A policy that reads this list
        fails from then on and never decides without it. This can’t be undone: export the list first if in doubt.
      </p>
    </ConfirmDialog>
  )
}

/** Whose changes count. */
const KEEPERS = { source: 'Kept by its source', screening: 'Written by screening' } as const

const ListBody = ({ parts, back }: { readonly parts: ListParts; readonly back: string }) => {
  const { owner, list, mayChange, onChange } = parts
  const [dialog, setDialog] = useState<'upload' | 'remove' | null>(null)
  const content = addressFor(listKey(owner, 'GET', '/{list}/content'), { params: listParams(parts) })
  return (
    <Page
      title={list.name}
      crumbs={[{ label: owner === null ? 'Shared lists' : 'Lists', href: back }]}
      badge={list.kept_by === 'people' ? undefined : <Badge>{KEEPERS[list.kept_by]}</Badge>}
      {...(list.description === '' ? {} : { lead: list.description })}
      actions={
        <>
          <ButtonLink icon="download" href={content} download="">
            Export
          </ButtonLink>
          {mayChange && list.kept_by === 'people' && (
            <Button icon="upload" onClick={() => setDialog('upload')}>
              Upload a file
            </Button>
          )}
          {mayChange && (
            <Button icon="trash" onClick={() => setDialog('remove')}>
              Remove
            </Button>
          )}
        </>
      }
    >
      {owner !== null && (list.name === 'allow' || list.name === 'deny') && (
        <Notice>
          <p>
            This list comes before every policy of the organization: a wallet in it is{' '}
            {list.name === 'allow' ? 'allowed' : 'denied'} whatever the policy says.
          </p>
        </Notice>
      )}
      <Card>
        <Facts
          items={[
            ['Addresses', list.entries.toLocaleString('en')],
            ['Version', String(list.version)],
            ['Changed', <Time key="changed" at={list.updated_at} />],
          ]}
        />
      </Card>
      <Entries {...parts} />
      <Source {...parts} />
      {dialog === 'upload' && <UploadList {...parts} onClose={() => setDialog(null)} onChange={onChange} />}
      {dialog === 'remove' && <RemoveList parts={parts} back={back} onClose={() => setDialog(null)} />}
    </Page>
  )
}

interface ListOfProps {
  readonly owner: ListOwner
  readonly query: Query<AddressList>
  readonly mayChange: boolean
  readonly back: string
}

const ListOf = ({ owner, query, mayChange, back }: ListOfProps) => {
  const { value, error, reload } = query
  if (value === null) {
    return (
      <Page title="List" crumbs={[{ label: 'Lists', href: back }]}>
        {error === null ? <Loading /> : <Problem error={error} retry={reload} />}
      </Page>
    )
  }
  return <ListBody parts={{ owner, list: value, mayChange, onChange: reload }} back={back} />
}

const useList = (owner: ListOwner, name: string): Query<AddressList> =>
  useQuery(
    (signal) => call(listKey(owner, 'GET', '/{list}'), { params: { organization: owner ?? '', list: name }, signal }),
    [owner, name],
  )

export const ListPage = ({ params: { list = '' } }: PageProps) => {
  const { organization, may, path } = useWorkplace()
  const query = useList(organization.id, list)
  return <ListOf owner={organization.id} query={query} mayChange={may('organization-admin')} back={path('/lists')} />
}

export const SharedListPage = ({ params: { list = '' } }: PageProps) => {
  const query = useList(null, list)
  return <ListOf owner={null} query={query} mayChange back="/lists" />
}
