// Shadow revision: evaluated and recorded, but never returned.
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../../dashboard/page/api/client.ts'
import type { Decision, Policy, Revision } from '../../../dashboard/page/api/types.ts'
import { useAction } from '../../../dashboard/page/data/use-action.ts'
import { usePages } from '../../../dashboard/page/data/use-pages.ts'
import { useRead } from '../../../dashboard/page/data/use-query.ts'
import { RuleOf, Verdict } from '../../../dashboard/page/decisions/labels.tsx'
import type { PolicyLabParts, SessionPolicyParts } from '../../../dashboard/page/module-pages.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { Button } from '../../../dashboard/page/ui/button.tsx'
import { Copyable, shortId } from '../../../dashboard/page/ui/copy.tsx'
import { SelectField } from '../../../dashboard/page/ui/field.tsx'
import { Badge, Card, Empty, Loading } from '../../../dashboard/page/ui/parts.tsx'
import { Problem } from '../../../dashboard/page/ui/problem.tsx'
import { Segments } from '../../../dashboard/page/ui/segments.tsx'
import { PagedTable } from '../../../dashboard/page/ui/table.tsx'
import { Time } from '../../../dashboard/page/ui/time.tsx'
import { say } from '../../../dashboard/page/ui/toast.tsx'

const REREAD_MS = 2_000

export const setShadow: PolicyLabParts['setShadow'] = async (policy, revisionId, params) => {
  await call('PUT /organizations/{organization}/policies/{policy}/shadow', {
    params: { ...params, policy: policy.id },
    body: { revision_id: revisionId, version: policy.version },
  })
}

const verdictBy = (verdict: 'compliant' | 'denied' | null, rule: string | null) => (
  // The element keeps the label of the column on a phone.
  <span>
    {verdict === null ? <Badge>No verdict</Badge> : <Verdict decision={{ verdict, withheld: false }} />}{' '}
    <RuleOf rule={rule} />
  </span>
)

interface ShadowProps {
  readonly policy: Policy
  readonly revisions: readonly Revision[]
  readonly onChanged: () => void
  readonly ofSessions: SessionPolicyParts | null
}

const Results = ({ policy }: { readonly policy: Policy }) => {
  const { params, path } = useWorkplace()
  const [outcome, setOutcome] = useState<'different' | 'failed'>('different')
  const results = useRead(
    'GET /organizations/{organization}/policies/{policy}/shadow-results',
    { params: { ...params, policy: policy.id }, query: {} },
    policy.shadow_revision_id,
  )
  const decisions = usePages<Decision>(
    (cursor, signal) =>
      call('GET /organizations/{organization}/decisions', {
        params,
        query: {
          policy_id: policy.id,
          shadow: outcome,
          limit: 20,
          cursor,
          shadow_revision_id: policy.shadow_revision_id ?? undefined,
        },
        signal,
      }),
    [policy.id, policy.shadow_revision_id, outcome],
  )
  const { value, reload } = results
  useEffect(() => {
    const timer = setInterval(reload, REREAD_MS)
    return () => clearInterval(timer)
  }, [reload])
  // Reloads the list when the counts change.
  const counted = `${value?.different} ${value?.failed}`
  const reloadDecisions = decisions.reload
  useEffect(() => reloadDecisions(), [counted, reloadDecisions])

  if (value === null) return results.error === null ? <Loading /> : <Problem error={results.error} retry={reload} />
  const total = value.same + value.different + value.failed
  const share = (count: number): string => (total === 0 ? '–' : `${((100 * count) / total).toFixed(1)}%`)
  const more = value.exact ? '' : '+'
  return (
    <>
      <dl class="tiles" aria-label="Shadow results">
        {(
          [
            ['Unchanged', value.same],
            ['Different verdict or rule', value.different],
            ['No verdict', value.failed],
          ] as const
        ).map(([label, count]) => (
          <div key={label} class="tile">
            <dt>{label}</dt>
            <dd>
              <span class="tile-value">
                {count.toLocaleString('en')}
                {more}
              </span>
              <span class="tile-more">{share(count)}</span>
            </dd>
          </div>
        ))}
      </dl>
      <Card
        flush
        title="Decisions that would change"
        actions={
          <Segments
            label="Outcome"
            choices={[
              { value: 'different', label: 'Different' },
              { value: 'failed', label: 'No verdict' },
            ]}
            value={outcome}
            onValue={(chosen) => setOutcome(chosen as typeof outcome)}
          />
        }
      >
        <PagedTable<Decision>
          caption="Decisions that would change"
          pages={decisions}
          rowKey={({ uuid }) => uuid}
          href={({ uuid }) => path(`/decisions/${uuid}`)}
          columns={{
            When: { narrow: true, cell: ({ at }) => <Time at={at} /> },
            Wallet: ({ from }) => <Copyable text={from} label="wallet" short />,
            Decided: ({ verdict, rule }) => verdictBy(verdict, rule),
            'In shadow': ({ shadow }) =>
              shadow === null ? '' : (shadow.failure ?? verdictBy(shadow.verdict, shadow.rule)),
            Decision: ({ uuid }) => <code title={uuid}>{shortId(uuid)}</code>,
          }}
          empty={
            <Empty icon="check" title={total === 0 ? 'No decisions yet' : 'No decisions'}>
              <p>
                {total === 0
                  ? 'New requests for projects that use this policy are counted here.'
                  : 'No decision would have had this outcome.'}
              </p>
            </Empty>
          }
        />
      </Card>
    </>
  )
}

export const Shadow = ({ policy, revisions, onChanged, ofSessions }: ShadowProps) => {
  const { params, may } = useWorkplace()
  const [chosen, setChosen] = useState('')
  const others = revisions.filter(({ id }) => id !== policy.active_revision_id)
  const running = revisions.find(({ id }) => id === policy.shadow_revision_id)
  const change = useAction(async (revisionId: string | null) => {
    await setShadow(policy, revisionId, params)
    say(revisionId === null ? 'Shadow mode ended' : 'Running in shadow mode')
    onChanged()
  })
  const mayChange = may('organization-admin')
  if (policy.shadow_revision_id !== null) {
    return (
      <>
        <Card
          title={`${running === undefined ? 'An older revision' : `Revision ${running.number}`} runs in shadow mode`}
          text={
            ofSessions === null
              ? 'Evaluated on every request alongside the live revision. Its verdicts are recorded but never returned.'
              : 'Evaluated on each submitted session while the policy is selected in the settings. Its outcome is shown in reviews but has no effect.'
          }
          actions={
            mayChange && (
              <Button busy={change.busy} onClick={() => change.run(null)}>
                End shadow mode
              </Button>
            )
          }
        >
          <Problem error={change.failure} />
        </Card>
        {ofSessions === null ? <Results policy={policy} /> : <ofSessions.ShadowResults policy={policy} />}
      </>
    )
  }
  return (
    <Card
      title="No revision runs in shadow mode"
      text={
        ofSessions === null
          ? 'A revision in shadow mode is evaluated on every real request alongside the live one, so that you can see its effect in advance. Each request is then evaluated twice.'
          : 'A revision in shadow mode is evaluated on each submitted session, alongside the live one or alone, so that you can see its effect in advance.'
      }
    >
      {policy.active_revision_id === null && ofSessions === null ? (
        <p class="soft">To compare, first make a revision live.</p>
      ) : others.length === 0 ? (
        <p class="soft">To compare with the live revision, first save another revision.</p>
      ) : (
        mayChange && (
          <div class="filters">
            <SelectField
              label="Revision"
              value={chosen === '' ? (others[0]?.id ?? '') : chosen}
              onValue={setChosen}
              choices={others.map(({ id, number }) => ({ value: id, label: `Revision ${number}` }))}
            />
            <Button
              kind="primary"
              busy={change.busy}
              onClick={() => change.run(chosen === '' ? (others[0]?.id ?? null) : chosen)}
            >
              Run in shadow mode
            </Button>
          </div>
        )
      )}
      <Problem error={change.failure} />
    </Card>
  )
}
