// Single addresses: to look through page by page, to find by how they begin, and a few to put in or take out.

import { useEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import { fieldProblemOf } from '../api/errors.ts'
import type { ListEntry } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { usePages } from '../data/use-pages.ts'
import { useSearchParam } from '../router.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { TextArea, TextField } from '../ui/field.tsx'
import { Card, Empty } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { listKey } from './list-key.ts'
import { type ListParts, listParams } from './list-parts.ts'

const EDITS_MAX = 1_000

const AddEntries = ({ onClose, ...parts }: ListParts & { readonly onClose: () => void }) => {
  const form = useForm({
    initial: { add: '', memo: '' },
    check: ({ add }) => {
      const count = add.split(/[\s,]+/).filter(Boolean).length
      if (count === 0) return { add: 'Enter at least one address.' }
      return count > EDITS_MAX
        ? { add: `At most ${counted(EDITS_MAX, 'address', 'addresses')} at once: upload a file for more.` }
        : {}
    },
    submit: async ({ add, memo }): Promise<void> => {
      const { changed } = await call(listKey(parts.owner, 'POST', '/{list}/entries'), {
        params: listParams(parts),
        body: {
          add: add
            .split(/[\s,]+/)
            .filter(Boolean)
            .map((address) => ({ address, ...(memo.trim() === '' ? {} : { memo: memo.trim() }) })),
        },
      })
      say(counted(changed, 'address put in', 'addresses put in'))
      parts.onChange()
      onClose()
    },
  })
  return (
    <FormDialog title={`Put addresses into ${parts.list.name}`} form={form} submitLabel="Put them in" onClose={onClose}>
      <TextArea
        {...form.text('add')}
        label="Addresses"
        mono
        rows={6}
        hint="One a line, EVM or Solana. All of them or none."
      />
      <TextField {...form.text('memo')} label="Why" optional input={{ maxLength: 200 }} />
    </FormDialog>
  )
}

/** In the address as `search`, so that what was found can be sent to someone. */
const Search = ({
  search,
  error,
  onSearch,
}: {
  readonly search: string
  readonly error: string | undefined
  readonly onSearch: (text: string) => void
}) => {
  const [typed, setTyped] = useState(search)
  return (
    <form
      class="filters filters-wide"
      onSubmit={(event) => {
        event.preventDefault()
        onSearch(typed.trim())
      }}
    >
      <TextField
        label="Find an address"
        mono
        value={typed}
        error={error}
        onValue={setTyped}
        input={{ 'data-search': true, maxLength: 100, placeholder: 'All of it, or how it begins' }}
      />
      <Button submit icon="search">
        Find
      </Button>
      {search !== '' && (
        <Button
          kind="quiet"
          onClick={() => {
            setTyped('')
            onSearch('')
          }}
        >
          Show all
        </Button>
      )}
    </form>
  )
}

export const Entries = (parts: ListParts) => {
  const { owner, list, mayChange, onChange } = parts
  const editable = mayChange && list.kept_by === 'people'
  const [adding, setAdding] = useState(false)
  const [search, setSearch] = useSearchParam('search')
  const pages = usePages(
    (cursor, signal) =>
      call(listKey(owner, 'GET', '/{list}/entries'), { params: listParams(parts), query: { cursor, search }, signal }),
    [owner, list.name, search],
  )
  const wrong = pages.items === null ? fieldProblemOf(pages.error) : null
  // What is shown stays until the changed list is there; the first page is the one that is read anyway.
  const version = useRef(list.version)
  useEffect(() => {
    if (version.current === list.version) return
    version.current = list.version
    pages.reload()
  }, [list.version])
  const remove = useAction(async (address: string) => {
    await call(listKey(owner, 'POST', '/{list}/entries'), { params: listParams(parts), body: { remove: [address] } })
    say('Address taken out')
    onChange()
  })
  useShortcut('c', 'Put addresses in', () => {
    if (editable) setAdding(true)
  })
  return (
    <Card
      title="Entries"
      actions={
        editable && (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            Put addresses in
          </Button>
        )
      }
    >
      <Search search={search} error={wrong?.text} onSearch={setSearch} />
      <Problem error={remove.failure} />
      {wrong === null && (
        <PagedTable<ListEntry>
          caption="Entries"
          pages={pages}
          rowKey={({ address }) => address}
          columns={{
            Address: ({ address }) => <Copyable text={address} label="address" />,
            Why: ({ memo }) => memo,
            By: { narrow: true, cell: ({ author, key_name: key }) => (key === null ? author : `API key ${key}`) },
            When: { narrow: true, cell: ({ added_at: at }) => <Time at={at} /> },
            '': ({ address }) =>
              editable && <IconButton icon="trash" label={`Take ${address} out`} onClick={() => remove.run(address)} />,
          }}
          empty={
            search === '' ? (
              <Empty icon="list" title="No addresses yet">
                <p>Put single addresses in, or upload a file with one address a line.</p>
              </Empty>
            ) : (
              <Empty icon="search" title="It is not in the list">
                <p>No address of this list is {search}, or begins with it.</p>
              </Empty>
            )
          }
        />
      )}
      {adding && <AddEntries {...parts} onClose={() => setAdding(false)} />}
    </Card>
  )
}
