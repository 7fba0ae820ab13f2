// Live page. Its load on the service doesn't depend on the number of decisions.
import { useEffect, useState } from 'preact/hooks'
import { useSearchParam } from '../router.ts'
import { lazy } from '../ui/lazy.tsx'
import { Badge, Loading, Page } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { zoneWord } from '../ui/relative-time.ts'
import { Segments } from '../ui/segments.tsx'
import { Events, Sources, useEvents } from './events.tsx'
import { LoadCommand } from './load-command.tsx'
import { CHARTS, type ChartSpec, DECISIONS_BY_CHAIN, DECISIONS_BY_VERDICT } from './series.ts'
import { Tiles } from './tiles.tsx'
import { useLive } from './use-live.ts'
import { QUARTER, WINDOWS, windowOf } from './windows.ts'
import { Workers } from './workers.tsx'

const Chart = lazy(async () => (await import('./chart.tsx')).Chart)

const DECISIONS = { id: 'decisions', title: 'Decisions', unit: '/s', axis: 'per second' } as const
const BY_VERDICT: ChartSpec = {
  ...DECISIONS,
  text: 'Decided attestations and tasks, and refused or failed requests to all APIs.',
  lines: DECISIONS_BY_VERDICT,
}
const BY_CHAIN: ChartSpec = {
  ...DECISIONS,
  text: 'Decided attestations and tasks.',
  lines: DECISIONS_BY_CHAIN,
}

const STATES = {
  connecting: <Badge>Connecting</Badge>,
  open: <Badge tone="good">Connected</Badge>,
  lost: <Badge tone="warn">Disconnected</Badge>,
} as const

export const LivePage = () => {
  const [named, setNamed] = useSearchParam('window')
  const window = windowOf(named)
  const live = useLive(window)
  const [split, setSplit] = useState<'verdict' | 'chain'>('verdict')
  const { points } = live
  const events = useEvents(window)
  // Windows longer than 15 minutes end with the last whole minute.
  const isLive = live.state === 'open' && window.read === '15m'
  const quiet = points?.every(({ decisions }) => decisions.compliant + decisions.denied === 0) ?? false
  // Stays visible until hidden, so that nothing moves when the first decisions arrive.
  const [teaching, setTeaching] = useState<'unknown' | 'yes' | 'no'>('unknown')
  useEffect(() => {
    if (points !== null && teaching === 'unknown') setTeaching(quiet ? 'yes' : 'no')
  }, [points, quiet, teaching])
  return (
    <Page
      title="Live"
      badge={STATES[live.state]}
      lead={`All organizations of this deployment, updated every second. Times are in ${zoneWord()}.`}
      actions={
        <Segments
          label="Time range"
          choices={WINDOWS.map(({ id, label }) => ({ value: id, label }))}
          value={window.id}
          onValue={(id) => setNamed(id === QUARTER.id ? '' : id)}
        />
      }
    >
      <Tiles point={live.newest} isLive={live.state === 'open'} />
      <Workers newest={live.newest} />
      <Problem error={live.error} retry={live.retry} />
      {points === null ? (
        live.error === null && <Loading />
      ) : (
        <>
          {teaching === 'yes' && <LoadCommand quiet={quiet} onHide={() => setTeaching('no')} />}
          <div class="charts">
            <Chart
              spec={split === 'verdict' ? BY_VERDICT : BY_CHAIN}
              points={points}
              window={window}
              isLive={isLive}
              events={events}
            >
              <Segments
                label="Decisions by"
                choices={[
                  { value: 'verdict', label: 'Verdict' },
                  { value: 'chain', label: 'Chain' },
                ]}
                value={split}
                onValue={(value) => setSplit(value as typeof split)}
              />
            </Chart>
            {CHARTS.map((spec) => (
              <Chart key={spec.id} spec={spec} points={points} window={window} isLive={isLive} events={events} />
            ))}
          </div>
          <div class="columns">
            <Events events={events} />
            <Sources />
          </div>
        </>
      )}
    </Page>
  )
}
