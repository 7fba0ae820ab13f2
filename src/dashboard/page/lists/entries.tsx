// Single addresses: the first of them to look at, any of them to find, and a few to put in or take out.
import { useState } from 'preact/hooks'
import { addressFor, call } from '../api/client.ts'
import { NetworkError } from '../api/errors.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { useQuery } from '../data/use-query.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { TextArea, TextField } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card, Empty } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { listKey } from './list-key.ts'
import { type ListParts, listParams } from './list-parts.ts'
import { type Entry, parseEntries } from './parse-entries.ts'

const SHOWN_MAX = 100
const EDITS_MAX = 1_000

/** The beginning of the list's file; a list may have a million entries, so the rest is not fetched. */
const readFirst = async (url: string, signal: AbortSignal): Promise<readonly Entry[]> => {
  const response = await fetch(url, { credentials: 'same-origin', cache: 'no-store', signal })
  if (!response.ok || response.body === null) throw new NetworkError('the list could not be read')
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  let ended = false
  while (!ended && text.split('\n').length <= SHOWN_MAX + 2) {
    const { done, value } = await reader.read()
    ended = done
    text += value ?? ''
  }
  if (!ended) {
    await reader.cancel()
    // The last line may be half of one.
    text = text.slice(0, text.lastIndexOf('\n'))
  }
  return parseEntries(text, SHOWN_MAX)
}

const AddEntries = ({ onClose, ...parts }: ListParts & { readonly onClose: () => void }) => {
  const form = useForm({
    initial: { add: '', memo: '' },
    check: ({ add }) => {
      const count = add.split(/\s+/).filter(Boolean).length
      if (count === 0) return { add: 'Enter at least one address.' }
      return count > EDITS_MAX ? { add: `At most ${EDITS_MAX} at once: upload a file for more.` } : {}
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
      say(changed === 1 ? 'One address put in' : `${changed} addresses put in`)
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

const FindEntry = (parts: ListParts) => {
  const [found, setFound] = useState<Awaited<ReturnType<typeof find>> | null>(null)
  const find = (address: string) =>
    call(listKey(parts.owner, 'GET', '/{list}/entries/{address}'), { params: { ...listParams(parts), address } })
  const form = useForm({
    initial: { address: '' },
    check: ({ address }) => (address.trim() === '' ? { address: 'Enter an address.' } : {}),
    submit: async ({ address }): Promise<void> => {
      setFound(null)
      setFound(await find(address.trim()))
    },
  })
  return (
    <>
      <form {...form.attributes} class="filters filters-wide">
        <TextField
          {...form.text('address')}
          label="Is an address in it?"
          mono
          input={{ 'data-search': true, maxLength: 100, placeholder: '0x… or base58' }}
        />
        <Button submit icon="search" busy={form.busy}>
          Look it up
        </Button>
      </form>
      <Problem error={form.failure} />
      {found !== null && (
        <Notice tone={found.listed ? 'good' : 'info'} urgent>
          <p>
            <code>{found.address}</code> is {found.listed ? 'in the list' : 'not in the list'}
            {found.listed && (
              <>
                {', put in by '}
                {found.author} <Time at={found.added_at} />
                {found.memo !== null && found.memo !== '' && `: ${found.memo}`}
              </>
            )}
            .
          </p>
        </Notice>
      )}
    </>
  )
}

export const Entries = (parts: ListParts) => {
  const { owner, list, mayChange, onChange } = parts
  const editable = mayChange && list.kept_by === 'people'
  const [adding, setAdding] = useState(false)
  const url = addressFor(listKey(owner, 'GET', '/{list}/content'), { params: listParams(parts) })
  const query = useQuery((signal) => readFirst(url, signal), [url, list.version])
  const { value } = query
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
      {...(value !== null && value.length < list.entries
        ? { text: `The first ${value.length}; export the list for all of them.` }
        : {})}
      actions={
        editable && (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            Put addresses in
          </Button>
        )
      }
    >
      <FindEntry {...parts} />
      <Problem error={remove.failure} />
      <Loaded query={query}>
        {(value) =>
          value.length === 0 ? (
            <Empty icon="list" title="Nobody is in it">
              <p>Put single addresses in, or upload a file with one a line.</p>
            </Empty>
          ) : (
            <Table<Entry>
              caption="Entries"
              rows={value}
              rowKey={({ address }) => address}
              columns={[
                { label: 'Address', cell: ({ address }) => <Copyable text={address} label="address" /> },
                { label: 'Why', cell: ({ memo }) => memo },
                {
                  label: '',
                  align: 'end',
                  narrow: true,
                  cell: ({ address }) =>
                    editable && (
                      <IconButton icon="trash" label={`Take ${address} out`} onClick={() => remove.run(address)} />
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {adding && <AddEntries {...parts} onClose={() => setAdding(false)} />}
    </Card>
  )
}
