// Facts contain entered data, so each access is recorded.
import { useState } from 'preact/hooks'
import { type AnswerOf, call } from '../../../dashboard/page/api/client.ts'
import type { SessionDetail } from '../../../dashboard/page/api/types.ts'
import { useAction } from '../../../dashboard/page/data/use-action.ts'
import { useRead } from '../../../dashboard/page/data/use-query.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { Button } from '../../../dashboard/page/ui/button.tsx'
import { Badge, Card, Facts } from '../../../dashboard/page/ui/parts.tsx'
import { Problem } from '../../../dashboard/page/ui/problem.tsx'
import { Table } from '../../../dashboard/page/ui/table.tsx'
import { Time } from '../../../dashboard/page/ui/time.tsx'

type SessionPolicyDecision =
  AnswerOf<'GET /organizations/{organization}/sessions/{session}/policy-decisions'>['items'][number]
type Evaluated = NonNullable<SessionPolicyDecision['decided']>
type Known = Readonly<Record<string, unknown>>

const WORDS: Readonly<Record<Evaluated['outcome'], string>> = {
  completed: 'Approved',
  rejected: 'Rejected',
  review: 'Left to a reviewer',
}
const TONES = { completed: 'good', rejected: 'bad', review: 'warn' } as const

export const OutcomeBadge = ({ outcome }: Pick<Evaluated, 'outcome'>) => (
  <Badge tone={TONES[outcome]}>{WORDS[outcome]}</Badge>
)

const Outcome = ({ of: { outcome, rule, problem } }: { readonly of: Evaluated }) => (
  <>
    <OutcomeBadge outcome={outcome} /> {rule === null ? 'no rule decided' : `by rule ${rule}`}
    {problem !== null && <span class="soft">: {problem}</span>}
  </>
)

const factWord = (value: unknown): string => (value === null ? 'unknown' : String(value))

export const FactTable = ({ facts, caption }: { readonly facts: Known; readonly caption: string }) => (
  <Table<readonly [string, unknown]>
    caption={caption}
    rows={Object.entries(facts)}
    rowKey={([name]) => name}
    columns={{ Fact: ([name]) => <code>{name}</code>, Value: ([, value]) => factWord(value) }}
  />
)

const Decision = ({ decision, facts }: { readonly decision: SessionPolicyDecision; readonly facts: Known | null }) => {
  const { path } = useWorkplace()
  const { decided, shadow, policy_id: policyId, policy_name: name, at } = decision
  const policy = <a href={path(`/policies/${policyId}`)}>{name}</a>
  return (
    <>
      <Facts
        items={[
          [
            'Policy',
            <>
              {policy}
              {decided === null ? ', no revision is live' : `, revision ${decided.revision}`}, <Time at={at} />
            </>,
          ] as const,
          ...(decided === null ? [] : [['Outcome', <Outcome key="outcome" of={decided} />] as const]),
          ...(shadow === null
            ? []
            : [[`Shadow mode, revision ${shadow.revision}`, <Outcome key="shadow" of={shadow} />] as const]),
        ]}
      />
      {facts !== null && <FactTable facts={facts} caption="Facts used by the policy" />}
    </>
  )
}

export const PolicyDecisions = ({ session }: { readonly session: SessionDetail }) => {
  const { params } = useWorkplace()
  const path = { ...params, session: session.id }
  const [facts, setFacts] = useState<ReadonlyMap<number, Known> | null>(null)
  const decisions = useRead(
    'GET /organizations/{organization}/sessions/{session}/policy-decisions',
    { params: path },
    session.sequence,
  )
  const read = useAction(async () => {
    const { items } = await call('POST /organizations/{organization}/sessions/{session}/policy-decisions/facts', {
      params: path,
      body: {},
    })
    setFacts(new Map(items.map(({ sequence, facts: known }) => [sequence, known])))
  })
  const items = decisions.value?.items ?? []
  if (items.length === 0) return decisions.error === null ? null : <Problem error={decisions.error} />
  const [newest] = items
  const title =
    newest?.decided != null && newest.decided.outcome !== 'review' ? 'Decided by policy' : 'Evaluated by policy'
  return (
    <Card
      title={title}
      actions={
        facts === null && (
          <Button small busy={read.busy} onClick={() => read.run()}>
            Show facts
          </Button>
        )
      }
    >
      <Problem error={read.failure} />
      {facts !== null && facts.size === 0 && <p class="soft">The facts were erased with the evidence.</p>}
      {items.map((decision) => (
        <Decision key={decision.sequence} decision={decision} facts={facts?.get(decision.sequence) ?? null} />
      ))}
    </Card>
  )
}
