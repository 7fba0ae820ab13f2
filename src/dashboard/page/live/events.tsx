import { call } from '../api/client.ts'
import type { LiveEvent } from '../api/types.ts'
import { useQuery, useRead } from '../data/use-query.ts'
import { shareWord, totalOf } from '../overview/days.ts'
import { useInterval } from '../reviews/use-interval.ts'
import { Badge, Card } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { zoneWord } from '../ui/relative-time.ts'
import { type Columns, Table } from '../ui/table.tsx'
import { formatClock, formatMinute } from './format.ts'
import type { LiveWindow } from './windows.ts'

const EVENTS_AGAIN_MS = 5_000
/** Maximum events shown; further events are only counted. */
const EVENTS_SHOWN = 12
const SOURCES_AGAIN_MS = 15_000
const SOURCES_SINCE_MS = 900_000

const KINDS = {
  start: <Badge tone="info">Start</Badge>,
  resize: <Badge tone="info">Resize</Badge>,
  policy: <Badge tone="info">Policy</Badge>,
} as const

export const useEvents = ({ read, seconds }: LiveWindow): readonly LiveEvent[] => {
  const { value, reload } = useRead('GET /live/events', { query: { window: read } })
  useInterval(EVENTS_AGAIN_MS, reload)
  return (value?.events ?? []).filter(({ at }) => at >= Date.now() - seconds * 1000)
}

export const Events = ({ events }: { readonly events: readonly LiveEvent[] }) =>
  events.length === 0 ? null : (
    <Card title="Events" text="Each event is a dashed line in the charts.">
      <ul class="events">
        {events
          .slice(-EVENTS_SHOWN)
          .reverse()
          .map((event) => (
            <li key={`${event.at} ${event.text}`}>
              <time dateTime={new Date(event.at).toISOString()}>{formatClock(event.at)}</time> {KINDS[event.kind]}{' '}
              {event.text}
            </li>
          ))}
      </ul>
      {events.length > EVENTS_SHOWN && <p class="soft">And {events.length - EVENTS_SHOWN} earlier.</p>}
    </Card>
  )

const readSources = (signal: AbortSignal) =>
  call('GET /decisions/tally', {
    query: { since: new Date(Date.now() - SOURCES_SINCE_MS).toISOString() },
    signal,
  })
const COLUMNS: Columns<Awaited<ReturnType<typeof readSources>>['data'][number]> = {
  Organization: (source) => source.organization_name ?? source.organization_id,
  Key: (source) => source.key_name ?? source.key_id,
  Decisions: { align: 'end', cell: (source) => totalOf(source).toLocaleString('en') },
  Denied: { align: 'end', cell: (source) => shareWord(source.denied, totalOf(source)) },
}

/** Counts are per quarter-hour, so the text states their start. */
export const Sources = () => {
  const { value, error, reload } = useQuery(readSources, [])
  useInterval(SOURCES_AGAIN_MS, reload)
  if (value === null) return <Problem error={error} retry={reload} />
  const since = `${formatMinute(Date.parse(value.since))} ${zoneWord()}`
  return (
    <Card title="Decisions by key" text={`Since ${since}.`} flush>
      {value.data.length === 0 ? (
        <p class="card-note soft">No decisions since then.</p>
      ) : (
        <Table
          caption="Decisions by key"
          columns={COLUMNS}
          rows={value.data}
          rowKey={({ organization_id: organization, key_id: key }) => `${organization} ${key}`}
        />
      )}
    </Card>
  )
}
