// What a replay came to: how many decisions would be others, by the rules that they go from and to.
import { useWorkplace } from '../shell/session.ts'
import { Badge } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { SessionReplayResult, type SessionSummary } from './session-replay-result.tsx'

interface Outcome {
  readonly verdict: 'compliant' | 'denied'
  readonly rule: string | null
}

interface Change {
  readonly from: Outcome
  readonly to: Outcome
  readonly count: number
  readonly examples: readonly string[]
}

/** `result` of a replay's task (workers/tasks/task.process.ts). */
interface Summary {
  readonly decisions: number
  readonly same: number
  readonly changes: readonly Change[]
  readonly unknown: readonly { readonly fact: string; readonly count: number }[]
  readonly failed: readonly { readonly rule: string; readonly count: number }[]
  readonly decided_by_lists: number
  readonly other_rule: number
  readonly other_verdict: number
}

const sum = (items: readonly { readonly count: number }[]): number =>
  items.reduce((total, { count }) => total + count, 0)
const count = (value: number): string => value.toLocaleString('en')

const OutcomeWords = ({ outcome: { verdict, rule } }: { readonly outcome: Outcome }) => (
  <>
    <Badge tone={verdict === 'compliant' ? 'good' : 'bad'}>{verdict}</Badge> {rule ?? 'default'}
  </>
)

export const ReplayResult = ({ result }: { readonly result: object }) =>
  'sessions' in result ? (
    <SessionReplayResult result={result as SessionSummary} />
  ) : (
    <DecisionReplayResult result={result} />
  )

const DecisionReplayResult = ({ result }: { readonly result: object }) => {
  const { path } = useWorkplace()
  const { decisions, same, changes, unknown, failed, ...rest } = result as Summary
  if (decisions === 0) return <p class="soft">No decision of this policy was recorded in that time.</p>
  return (
    <div class="replay-result">
      <dl class="tiles">
        {(
          [
            ['Decisions', decisions],
            ['The same', same],
            ['Another verdict', rest.other_verdict],
            ['Another rule only', rest.other_rule],
            ['No verdict', sum(failed)],
            ['Can’t be told', sum(unknown)],
            ['Decided by lists', rest.decided_by_lists],
          ] as const
        ).map(([label, value]) => (
          <div key={label} class="tile">
            <dt>{label}</dt>
            <dd>
              <span class="tile-value">{count(value)}</span>
            </dd>
          </div>
        ))}
      </dl>
      {changes.length > 0 && (
        <Table<Change>
          caption="What would change, by rule"
          rows={changes}
          rowKey={({ from, to }) => JSON.stringify([from, to])}
          columns={[
            { label: 'Was', cell: ({ from }) => <OutcomeWords outcome={from} /> },
            { label: 'Would be', cell: ({ to }) => <OutcomeWords outcome={to} /> },
            { label: 'Decisions', narrow: true, align: 'end', cell: ({ count: times }) => count(times) },
            {
              label: 'For example',
              cell: ({ examples }) =>
                examples.map((uuid) => (
                  <a key={uuid} class="example mono" href={path(`/decisions/${uuid}`)}>
                    {uuid.slice(0, 8)}
                  </a>
                )),
            },
          ]}
        />
      )}
      {failed.length > 0 && (
        <p class="soft">
          No verdict, since a rule fails:{' '}
          {failed.map(({ rule, count: times }) => `${rule} (${count(times)})`).join(', ')}.
        </p>
      )}
      {unknown.length > 0 && (
        <p class="soft">
          Can’t be told, since the log does not hold:{' '}
          {unknown.map(({ fact, count: times }) => `${fact} (${count(times)})`).join(', ')}.
        </p>
      )}
    </div>
  )
}
