import { decisionBars, type HourNumbers, latencyBars, type Tally } from './days.ts'
import { Denials } from './denials.tsx'
import { Hours } from './hours.tsx'
import { Verification } from './verification.tsx'

interface ChartsProps {
  readonly hours: HourNumbers
  readonly hasSessions: boolean
  /** Counts by rule for the last seven days; `later` counts only today. */
  readonly rules: readonly Tally[]
}

export const Charts = ({ hours, rules, hasSessions }: ChartsProps) => (
  <>
    {rules.length > 0 && (
      <div class="charts">
        <Hours
          title="Decisions by hour"
          text="Last 24 hours"
          unit="per hour"
          parts={['Attested', 'Denied']}
          hours={decisionBars(hours)}
        />
        <Hours
          title="Latency by hour"
          text="p50 is the median; 95% of verdicts take at most p95."
          unit="ms"
          parts={['p50', 'p95']}
          hours={latencyBars(hours)}
          lines
        />
      </div>
    )}
    {hasSessions && <Verification />}
    <Denials today={rules.map(({ later, ...row }) => ({ ...row, later, ...later }))} week={rules} />
  </>
)
