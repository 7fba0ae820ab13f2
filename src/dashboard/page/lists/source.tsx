import { call } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import type { ListSource } from '../api/types.ts'
import { useQuery } from '../data/use-query.ts'
import { type Action, ActionButton, action } from '../ui/actions.tsx'
import { Card, Facts } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { type ListParts, listKey, listParams } from './list-key.ts'

const FORMATS = {
  text: 'Text: one address per line',
  csv: 'CSV: address and memo',
  'sdn-advanced': 'US Treasury: sdn_advanced.xml',
} as const
const INTERVALS = { 3600: 'Every hour', 21600: 'Every 6 hours', 86400: 'Every day', 604800: 'Every week' } as const

const setSource = ({ owner, list }: ListParts): Action =>
  action({
    label: 'Set source',
    icon: 'link',
    title: `Set the source of ${list.name}`,
    submit: 'Save',
    text: 'The source’s content replaces the list, which can then no longer be edited by hand.',
    fields: {
      url: { label: 'URL', type: 'url', placeholder: 'https://', maxLength: 2000 },
      format: { label: 'Format', choices: FORMATS },
      every_seconds: { label: 'Refresh', choices: INTERVALS, value: '86400' },
      reach: {
        label: 'Network',
        choices: { public: 'Internet', private: 'Private network', loopback: 'This server' },
        when: owner === null && {},
      },
      skip_bad_lines: { label: 'Skip invalid lines', check: true },
    },
    run: ({ every_seconds, ...body }) =>
      call(listKey(owner, 'PUT', '/{list}/source'), {
        params: listParams({ owner, list }),
        body: { ...body, every_seconds: Number(every_seconds) },
      }),
    done: 'Source saved',
  })

const SourceFacts = ({ source }: { readonly source: ListSource }) => (
  <>
    {source.failure !== null && (
      <Notice tone="warn" title="The last refresh failed">
        <p>{source.failure}. The list keeps its previous content.</p>
      </Notice>
    )}
    <Facts
      items={[
        ['Location', source.location === null ? 'A file on the server' : <code key="url">{source.location}</code>],
        ['Format', FORMATS[source.format]],
        ['Last refresh', <Time key="confirmed" at={source.confirmed_at} />],
        ['Next refresh', <Time key="due" at={source.due_at} />],
      ]}
    />
  </>
)

const TEXTS = {
  people: 'This list is edited by hand. To read it from a URL instead, set a source.',
  screening: 'Screening writes the wallets of sanctioned people to this list. Use another list for your own addresses.',
  source: undefined,
} as const

export const Source = (parts: ListParts) => {
  const { owner, list, mayChange, onChange } = parts
  const params = listParams(parts)
  const isSourced = list.kept_by === 'source'
  const source = useQuery(
    async (signal) => {
      if (!isSourced) return { source: null }
      try {
        return { source: await call(listKey(owner, 'GET', '/{list}/source'), { params, signal }) }
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return { source: null }
        throw error
      }
    },
    [owner, list.name, isSourced],
  )
  const reload = (): void => {
    onChange()
    source.reload()
  }
  const refresh: Action = {
    label: 'Refresh now',
    icon: 'turn',
    run: () => call(listKey(owner, 'POST', '/{list}/source/refresh'), { params }),
    done: 'Refreshing the list',
  }
  const remove: Action = {
    label: 'Remove source',
    run: () => call(listKey(owner, 'DELETE', '/{list}/source'), { params }),
    done: 'Source removed. The list keeps its content.',
  }
  const found = source.value?.source ?? null
  return (
    <Card
      title="Source"
      text={TEXTS[list.kept_by]}
      actions={
        mayChange &&
        (list.kept_by === 'people' ? [setSource(parts)] : isSourced ? [refresh, remove] : []).map((each) => (
          <ActionButton key={each.label} small action={each} onDone={reload} />
        ))
      }
    >
      <Problem error={source.error} />
      {found !== null && <SourceFacts source={found} />}
    </Card>
  )
}
