// Where a list is read from again and again, how that went last, and how to begin or end it.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import type { ListSource } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { useQuery } from '../data/use-query.ts'
import { Button } from '../ui/button.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { CheckField, SelectField, TextField } from '../ui/field.tsx'
import { Card, Facts } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { listKey } from './list-key.ts'
import { type ListParts, listParams } from './list-parts.ts'

type Format = ListSource['format']
const FORMATS: readonly { readonly value: Format; readonly label: string }[] = [
  { value: 'text', label: 'Text: one address a line' },
  { value: 'csv', label: 'CSV of address and memo' },
  { value: 'sdn-advanced', label: 'US Treasury: sdn_advanced.xml' },
]
const INTERVALS = [
  { value: '3600', label: 'Every hour' },
  { value: '21600', label: 'Every six hours' },
  { value: '86400', label: 'Every day' },
  { value: '604800', label: 'Every week' },
]

const REACHES = [
  { value: 'public', label: 'On the internet' },
  { value: 'private', label: 'In a private network' },
  { value: 'loopback', label: 'On this machine' },
]

const SetSource = ({
  onClose,
  onDone,
  ...parts
}: ListParts & { readonly onClose: () => void; readonly onDone: () => void }) => {
  const form = useForm({
    initial: { url: '', format: 'text' as Format, every_seconds: '86400', skip_bad_lines: false, reach: 'public' },
    check: ({ url }) => (/^https?:\/\/\S+$/.test(url.trim()) ? {} : { url: 'A URL that begins with https://.' }),
    submit: async ({ url, format, every_seconds, skip_bad_lines, reach }): Promise<void> => {
      await call(listKey(parts.owner, 'PUT', '/{list}/source'), {
        params: listParams(parts),
        body: {
          url: url.trim(),
          format,
          every_seconds: Number(every_seconds),
          skip_bad_lines,
          // How near an address may be is for who runs the machine to say.
          ...(parts.owner === null ? { reach } : {}),
        },
      })
      say('Source set')
      onDone()
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Read ${parts.list.name} from a source`}
      form={form}
      submitLabel="Set the source"
      onClose={onClose}
    >
      <p class="confirm-text">The source’s file becomes the list; nobody edits it by hand then.</p>
      <TextField {...form.text('url')} label="URL" mono input={{ placeholder: 'https://', maxLength: 2000 }} />
      <div class="form-row">
        <SelectField {...form.text('format')} label="Format" choices={FORMATS} />
        <SelectField {...form.text('every_seconds')} label="Read it" choices={INTERVALS} />
      </div>
      {parts.owner === null && <SelectField {...form.text('reach')} label="Where it may be" choices={REACHES} />}
      <CheckField
        label="Take the good lines where some are bad"
        checked={form.values.skip_bad_lines}
        onChecked={(checked) => form.set('skip_bad_lines', checked)}
      />
    </FormDialog>
  )
}

const SourceFacts = ({ source }: { readonly source: ListSource }) => (
  <>
    {source.failure !== null && (
      <Notice tone="warn" title="The last attempt failed">
        <p>{source.failure}. The list keeps its last good content and grows older.</p>
      </Notice>
    )}
    <Facts
      items={[
        [
          'From',
          source.location === null ? 'A file on the service’s machine' : <code key="url">{source.location}</code>,
        ],
        ['Format', FORMATS.find(({ value }) => value === source.format)?.label ?? source.format],
        ['Last read in full', <Time key="confirmed" at={source.confirmed_at} />],
        ['Next', <Time key="due" at={source.due_at} />],
      ]}
    />
  </>
)

const KEPT = {
  people: 'The list is kept by people. It can be read from a URL instead, again and again.',
  screening:
    'Screening writes the wallets here that a list of sanctioned people names, each time that list is read. For your ' +
    'own addresses make another list.',
} as const

export const Source = (parts: ListParts) => {
  const { owner, list, mayChange, onChange } = parts
  const [setting, setSetting] = useState(false)
  const params = listParams(parts)
  const sourced = list.kept_by === 'source'
  const source = useQuery(
    async (signal) => {
      if (!sourced) return { source: null }
      try {
        return { source: await call(listKey(owner, 'GET', '/{list}/source'), { params, signal }) }
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return { source: null }
        throw error
      }
    },
    [owner, list.name, sourced],
  )
  const refresh = useAction(async () => {
    source.set({ source: await call(listKey(owner, 'POST', '/{list}/source/refresh'), { params }) })
    say('It is read again now')
  })
  const end = useAction(async () => {
    await call(listKey(owner, 'DELETE', '/{list}/source'), { params })
    say('Source ended; its last content stays')
    onChange()
  })
  const found = source.value?.source ?? null
  return (
    <Card
      title="Source"
      {...(sourced ? {} : { text: KEPT[list.kept_by === 'screening' ? 'screening' : 'people'] })}
      actions={
        mayChange &&
        list.kept_by !== 'screening' &&
        (sourced ? (
          <>
            <Button small icon="turn" busy={refresh.busy} onClick={() => refresh.run()}>
              Read it now
            </Button>
            <Button small busy={end.busy} onClick={() => end.run()}>
              End the source
            </Button>
          </>
        ) : (
          <Button small icon="link" onClick={() => setSetting(true)}>
            Set a source
          </Button>
        ))
      }
    >
      <Problem error={refresh.failure ?? end.failure ?? source.error} />
      {found !== null && <SourceFacts source={found} />}
      {setting && (
        <SetSource
          {...parts}
          onClose={() => setSetting(false)}
          onDone={() => {
            onChange()
            source.reload()
          }}
        />
      )}
    </Card>
  )
}
