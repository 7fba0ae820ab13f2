import type { Task } from '../../../dashboard/page/api/types.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { shortId } from '../../../dashboard/page/ui/copy.tsx'
import { Badge } from '../../../dashboard/page/ui/parts.tsx'
import { Table } from '../../../dashboard/page/ui/table.tsx'

type SessionSummary = Extract<NonNullable<Task['result']>, { readonly sessions: number }>
type Disagreement = SessionSummary['disagreements'][number]

const WORDS = { completed: 'Approved', rejected: 'Rejected' } as const
const TONES = { completed: 'good', rejected: 'bad' } as const

const Outcome = ({ of }: { readonly of: Disagreement['outcome'] }) => <Badge tone={TONES[of]}>{WORDS[of]}</Badge>

const reasonWord = ({ rule, problem }: SessionSummary['reasons'][number]): string => {
  if (rule === null) return problem ?? 'no rule matched'
  return problem === null ? `rule ${rule}` : `rule ${rule}: ${problem}`
}

export const SessionReplayResult = ({ result }: { readonly result: SessionSummary }) => {
  const { path } = useWorkplace()
  const { sessions, completed, rejected, left, agreed, disagreements, reasons } = result
  if (sessions === 0) return <p class="soft">No sessions were decided by reviewers in this period.</p>
  return (
    <div class="replay-result">
      <dl class="tiles">
        {(
          [
            ['Sessions', sessions],
            ['Would be approved', completed],
            ['Would be rejected', rejected],
            ['Left to reviewers', left],
            ['Different from reviewers', completed + rejected - agreed],
          ] as const
        ).map(([label, value]) => (
          <div key={label} class="tile">
            <dt>{label}</dt>
            <dd>
              <span class="tile-value">{value.toLocaleString('en')}</span>
            </dd>
          </div>
        ))}
      </dl>
      {disagreements.length > 0 && (
        <Table<Disagreement>
          caption="Sessions that reviewers decided differently"
          rows={disagreements}
          rowKey={({ decided, outcome, rule }) => JSON.stringify([decided, outcome, rule])}
          columns={{
            Reviewer: ({ decided }) => <Outcome of={decided} />,
            Policy: ({ outcome, rule }) => (
              <>
                <Outcome of={outcome} /> {rule}
              </>
            ),
            Sessions: { narrow: true, align: 'end', cell: ({ count }) => count },
            Examples: ({ sessions: examples }) =>
              examples.map((id) => (
                <a key={id} class="example mono" href={path(`/reviews/${id}`)}>
                  {shortId(id)}
                </a>
              )),
          }}
        />
      )}
      {reasons.length > 0 && (
        <p class="soft">
          Left to reviewers: {reasons.map((reason) => `${reasonWord(reason)} (${reason.count})`).join('; ')}.
        </p>
      )}
    </div>
  )
}
