// Charts below the figures of an organization with decisions: the last 24 hours, and denials.
import { decisionBars, type HourNumbers, latencyBars, type Tally } from './days.ts'
import { Denials } from './denials.tsx'
import { Hours } from './hours.tsx'

interface ChartsProps {
  readonly hours: HourNumbers
  /** Counts of the last seven days by rule; `later` counts only today. */
  readonly rules: readonly Tally[]
}

export const Charts = ({ hours, rules }: ChartsProps) => (
  <>
    <Hours
      title="Decisions by hour"
      unit="per hour"
      parts={['Attested', 'Denied']}
      colours={[1, 2]}
      bars={decisionBars(hours)}
    />
    <Hours
      title="Latency by hour"
      text="Time from request to verdict: 50% of requests took at most p50, 95% at most p95. Refused requests are excluded."
      unit="ms"
      parts={['p50', 'p95']}
      colours={[1, 3]}
      bars={latencyBars(hours)}
    />
    <Denials today={rules.map(({ later, ...row }) => ({ ...row, later, ...later }))} week={rules} />
  </>
)
