import { useEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import { fieldProblemOf } from '../api/errors.ts'
import type { ListEntry } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { useSearchParam } from '../router.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { action, useActions, useStarter } from '../ui/actions.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { TextField } from '../ui/field.tsx'
import { Card, Empty } from '../ui/parts.tsx'
import { PagedTable, time } from '../ui/table.tsx'
import { type ListParts, listKey, listParams } from './list-key.ts'

interface SearchProps {
  readonly search: string
  readonly error: string | undefined
  readonly onSearch: (text: string) => void
}

/** The search is in the URL so that it can be shared. */
const Search = ({ search, error, onSearch }: SearchProps) => {
  const [typed, setTyped] = useState(search)
  const submit = (text: string): void => {
    setTyped(text)
    onSearch(text.trim())
  }
  return (
    <form
      class="filters filters-wide"
      onSubmit={(event) => {
        event.preventDefault()
        submit(typed)
      }}
    >
      <TextField
        label="Find an address"
        mono
        value={typed}
        error={error}
        onValue={setTyped}
        input={{ 'data-search': true, maxLength: 100, placeholder: 'Address or prefix' }}
      />
      <Button submit icon="search">
        Find
      </Button>
      {search !== '' && (
        <Button kind="quiet" onClick={() => submit('')}>
          Show all
        </Button>
      )}
    </form>
  )
}

export const Entries = (parts: ListParts) => {
  const { owner, list, mayChange, onChange } = parts
  const isEditable = mayChange && list.kept_by === 'people'
  const params = listParams(parts)
  const [search, setSearch] = useSearchParam('search')
  const pages = useList(listKey(owner, 'GET', '/{list}/entries'), { params, query: { search } })
  const problem = fieldProblemOf(pages.error)
  // The previous list stays on screen until the changed list is read.
  const version = useRef(list.version)
  useEffect(() => {
    if (version.current === list.version) return
    version.current = list.version
    pages.reload()
  }, [list.version])
  const add = useStarter(
    action({
      label: 'Add addresses',
      title: `Add addresses to ${list.name}`,
      submit: 'Add',
      fields: {
        entries: { label: 'Addresses', hint: 'One per line, EVM or Solana.', mono: true, rows: 6 },
        memo: { label: 'Memo', optional: true, maxLength: 200 },
      },
      run: ({ entries: text, memo }) =>
        call(listKey(owner, 'POST', '/{list}/entries'), {
          params,
          body: { add: text.split(/[\s,]+/).map((address) => ({ address, memo })) },
        }),
      done: ({ changed }) => counted(changed, 'address added', 'addresses added'),
    }),
    onChange,
  )
  const { start, dialog } = useActions(onChange)
  const remove = (address: string): void =>
    start({
      label: 'Remove address',
      run: () => call(listKey(owner, 'POST', '/{list}/entries'), { params, body: { remove: [address] } }),
      done: 'Address removed',
    })
  useShortcut('c', 'Add addresses', isEditable ? add.start : null)
  return (
    <Card
      title="Entries"
      actions={
        isEditable && (
          <Button small icon="plus" onClick={add.start}>
            Add addresses
          </Button>
        )
      }
    >
      <Search search={search} error={problem?.text} onSearch={setSearch} />
      {(problem === null || pages.items !== null) && (
        <PagedTable<ListEntry>
          caption="Entries"
          pages={problem === null ? pages : { ...pages, error: null }}
          rowKey={({ address }) => address}
          columns={{
            Address: ({ address }) => <Copyable text={address} label="address" />,
            Memo: ({ memo }) => memo,
            'Added by': {
              narrow: true,
              cell: ({ author, key_name: key }) => (key === null ? author : `API key ${key}`),
            },
            Added: time('added_at'),
            '': ({ address }) =>
              isEditable && <IconButton icon="trash" label={`Remove ${address}`} onClick={() => remove(address)} />,
          }}
          empty={
            search === '' ? (
              <Empty icon="list" title="No addresses">
                <p>Add addresses, or upload a file with one address per line.</p>
              </Empty>
            ) : (
              <Empty icon="search" title="No matching address">
                <p>No address in this list starts with {search}.</p>
              </Empty>
            )
          }
        />
      )}
      {add.dialog}
      {dialog}
    </Card>
  )
}
