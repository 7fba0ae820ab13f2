import type { Process } from '../api/types.ts'
import { Badge } from '../ui/parts.tsx'
import { type Columns, Table } from '../ui/table.tsx'
import { formatMegabytes, formatNumber } from './format.ts'

const STATES: Readonly<Record<Process['state'], preact.JSX.Element>> = {
  ready: <Badge tone="good">Ready</Badge>,
  starting: <Badge tone="info">Starting</Badge>,
  leaving: <Badge tone="info">Stopping</Badge>,
  silent: <Badge tone="warn">Not responding</Badge>,
  down: <Badge tone="warn">Exited</Badge>,
}

const NONE = '–'
const SECONDS_PER_MINUTE = 60
const MINUTES_PER_HOUR = 60
const HOURS_PER_DAY = 24

const formatUptime = (seconds: number | null): string => {
  if (seconds === null) return NONE
  if (seconds < SECONDS_PER_MINUTE) return `${Math.floor(seconds)} s`
  const minutes = Math.floor(seconds / SECONDS_PER_MINUTE)
  if (minutes < MINUTES_PER_HOUR) return `${minutes} min`
  const hours = Math.floor(minutes / MINUTES_PER_HOUR)
  return hours < HOURS_PER_DAY ? `${hours} h` : `${Math.floor(hours / HOURS_PER_DAY)} d`
}

type Figures = NonNullable<Process['figures']>
const figure =
  (read: (figures: Figures) => string) =>
  ({ figures }: Process): string =>
    figures === null ? NONE : read(figures)

const COLUMNS: Columns<Process> = {
  Process: ({ process, pid }) => (
    <span>
      {process}
      {pid !== null && <span class="soft"> pid {pid}</span>}
    </span>
  ),
  State: ({ state }) => STATES[state],
  Up: { align: 'end', cell: ({ uptime_seconds: seconds }) => formatUptime(seconds) },
  Busy: { align: 'end', cell: figure(({ workers }) => `${workers.busy} of ${workers.live}`) },
  Queue: { align: 'end', cell: figure(({ queue }) => queue.waiting.toLocaleString('en')) },
  Decisions: { align: 'end', cell: figure((each) => `${formatNumber(each.decisions_per_second)}/s`) },
  CPU: { align: 'end', cell: figure((each) => `${each.cpu_cores.toFixed(2)} cores`) },
  'Lag p99': {
    align: 'end',
    cell: figure(({ event_loop_p99_ms: lag }) => (lag === null ? NONE : `${formatNumber(lag)} ms`)),
  },
  Memory: { align: 'end', cell: figure((each) => formatMegabytes(each.memory_bytes)) },
}

/** Hidden for a single ready process, which the page's figures already describe. */
export const ProcessTable = ({ processes }: { readonly processes: readonly Process[] }) =>
  processes.length === 1 && processes[0]?.state === 'ready' ? null : (
    <div class="processes">
      <Table caption="Processes" columns={COLUMNS} rows={processes} rowKey={({ process }) => String(process)} />
    </div>
  )
