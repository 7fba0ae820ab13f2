import type { Task } from '../../../dashboard/page/api/types.ts'
import { ruleWord } from '../../../dashboard/page/decisions/labels.tsx'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { shortId } from '../../../dashboard/page/ui/copy.tsx'
import { Badge } from '../../../dashboard/page/ui/parts.tsx'
import { Table } from '../../../dashboard/page/ui/table.tsx'
import { SessionReplayResult } from './session-replay-result.tsx'

type Result = NonNullable<Task['result']>
type Summary = Extract<Result, { readonly changes: unknown }>
type Change = Summary['changes'][number]

const sum = (items: readonly { readonly count: number }[]): number =>
  items.reduce((total, { count }) => total + count, 0)
const count = (value: number): string => value.toLocaleString('en')

const OutcomeWords = ({ outcome: { verdict, rule } }: { readonly outcome: Change['from'] }) => (
  <>
    <Badge tone={verdict === 'compliant' ? 'good' : 'bad'}>{verdict}</Badge> {ruleWord(rule)}
  </>
)

export const ReplayResult = ({ result }: { readonly result: Result }) => {
  if ('sessions' in result) return <SessionReplayResult result={result} />
  return 'changes' in result ? <DecisionReplayResult result={result} /> : null
}

const DecisionReplayResult = ({ result }: { readonly result: Summary }) => {
  const { path } = useWorkplace()
  const { decisions, same, changes, unknown, failed, ...rest } = result
  if (decisions === 0) return <p class="soft">No decisions of this policy were recorded in this period.</p>
  return (
    <div class="replay-result">
      <dl class="tiles">
        {(
          [
            ['Decisions', decisions],
            ['Unchanged', same],
            ['Different verdict', rest.other_verdict],
            ['Different rule only', rest.other_rule],
            ['No verdict', sum(failed)],
            ['Unknown', sum(unknown)],
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
          caption="Changes by rule"
          rows={changes}
          rowKey={({ from, to }) => JSON.stringify([from, to])}
          columns={{
            Was: ({ from }) => <OutcomeWords outcome={from} />,
            'Would be': ({ to }) => <OutcomeWords outcome={to} />,
            Decisions: { narrow: true, align: 'end', cell: ({ count: times }) => count(times) },
            Examples: ({ examples }) =>
              examples.map((uuid) => (
                <a key={uuid} class="example mono" href={path(`/decisions/${uuid}`)}>
                  {shortId(uuid)}
                </a>
              )),
          }}
        />
      )}
      {failed.length > 0 && (
        <p class="soft">
          No verdict because a rule failed:{' '}
          {failed.map(({ rule, count: times }) => `${ruleWord(rule)} (${count(times)})`).join(', ')}.
        </p>
      )}
      {unknown.length > 0 && (
        <p class="soft">
          Unknown because the log does not contain:{' '}
          {unknown.map(({ fact, count: times }) => `${fact} (${count(times)})`).join(', ')}.
        </p>
      )}
    </div>
  )
}
