// Evaluates a document on an entered or recorded request. Nothing is signed or recorded.
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../../dashboard/page/api/client.ts'
import type { CheckedPolicy, Decision, Policy, Revision } from '../../../dashboard/page/api/types.ts'
import { useDeployment } from '../../../dashboard/page/data/use-deployment.ts'
import { type Form, useForm } from '../../../dashboard/page/data/use-form.ts'
import { useRead } from '../../../dashboard/page/data/use-query.ts'
import { ruleWord } from '../../../dashboard/page/decisions/labels.tsx'
import { SubjectField, subjectOf } from '../../../dashboard/page/policies/subject-field.tsx'
import type { Draft } from '../../../dashboard/page/policies/use-draft.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { Button } from '../../../dashboard/page/ui/button.tsx'
import { shorten } from '../../../dashboard/page/ui/copy.tsx'
import { SelectField, TextArea, TextField } from '../../../dashboard/page/ui/field.tsx'
import { Card, Empty } from '../../../dashboard/page/ui/parts.tsx'
import { Problem } from '../../../dashboard/page/ui/problem.tsx'
import { absoluteTime } from '../../../dashboard/page/ui/relative-time.ts'
import { Segments } from '../../../dashboard/page/ui/segments.tsx'
import { exampleFacts, parseFacts } from './trial-facts.ts'
import { type Simulation, TrialResult } from './trial-result.tsx'

const RECENT = 30
const EVM_WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'

const INITIAL = {
  chain: '',
  from: EVM_WALLET,
  on_behalf: '',
  to: '',
  data: '',
  msg_value: '',
  user_ip: '',
  time: '',
  decision: '',
  facts: '',
}
type Values = typeof INITIAL

const filled = (fields: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value.trim() === '' ? [] : [[name, value.trim()]])),
  )

const decisionLabel = ({ at, verdict, rule, chain, from }: Decision): string =>
  `${absoluteTime(at)}: ${verdict}, ${ruleWord(rule)}, ${chain}, ${shorten(from)}`

interface TrialProps {
  readonly policy: Policy
  readonly revisions: readonly Revision[]
  readonly draft: Draft
  readonly checked: CheckedPolicy | null
}

interface RequestFieldsProps {
  readonly form: Form<Values>
  /** Chain if the field is empty. */
  readonly chain: string
  readonly names: readonly string[]
}

const RequestFields = ({ form, chain, names }: RequestFieldsProps) => (
  <>
    <div class="form-row">
      <SelectField
        label="Chain"
        value={form.values.chain === '' ? chain : form.values.chain}
        onValue={(value) => form.set('chain', value)}
        choices={names.map((name) => ({ value: name, label: name }))}
      />
      <TextField {...form.text('msg_value')} label="Value" optional hint="Wei or lamports." mono />
    </div>
    <TextField {...form.text('from')} label="Wallet" mono />
    <TextField
      {...form.text('on_behalf')}
      label="On behalf of"
      optional
      mono
      hint="The user, if the wallet is a relayer."
    />
    <TextField {...form.text('to')} label="Contract or program" optional mono />
    <TextField {...form.text('data')} label="Call data" optional mono hint="0x followed by hex digits." />
    <div class="form-row">
      <TextField {...form.text('user_ip')} label="Client IP" optional mono />
      <TextField {...form.text('time')} label="Time" optional mono hint="ISO 8601. Defaults to now." />
    </div>
  </>
)

interface RecordedFieldsProps {
  readonly form: Form<Values>
  readonly recorded: readonly Decision[]
}

const RecordedFields = ({ form, recorded }: RecordedFieldsProps) => (
  <>
    {recorded.length > 0 && (
      <SelectField
        label="Recent decisions"
        value={recorded.some(({ uuid }) => uuid === form.values.decision) ? form.values.decision : ''}
        onValue={(value) => form.set('decision', value)}
        choices={[
          { value: '', label: 'Choose one' },
          ...recorded.map((decision) => ({ value: decision.uuid, label: decisionLabel(decision) })),
        ]}
      />
    )}
    <TextField
      {...form.text('decision')}
      label="Decision UUID"
      mono
      hint="Uses the recorded request and facts. If a rule reads the client IP address or the identity, enter them below, because they are not recorded."
    />
    <TextField {...form.text('user_ip')} label="Client IP" optional mono />
  </>
)

export const Trial = ({ policy, revisions, draft, checked }: TrialProps) => {
  const { params } = useWorkplace()
  const [subject, setSubject] = useState('')
  const [kind, setKind] = useState<'request' | 'decision'>('request')
  const [result, setResult] = useState<Simulation | null>(null)
  const place = useRef<HTMLDivElement>(null)
  // On narrow screens, the result is below the form.
  useEffect(() => {
    if (result !== null) place.current?.scrollIntoView({ block: 'nearest' })
  }, [result])
  const chains = useDeployment()
  const recent = useRead('GET /organizations/{organization}/decisions', {
    params,
    query: { policy_id: policy.id, limit: RECENT },
  })
  const names = chains.value?.chains.map(({ name }) => name) ?? []
  const chain = names.includes('base') ? 'base' : (names[0] ?? '')

  const form = useForm<Values>({
    initial: INITIAL,
    check: ({ facts, decision, from }) => ({
      ...(parseFacts(facts) === null ? { facts: 'Enter a JSON object.' } : {}),
      ...(kind === 'decision' && decision.trim() === '' ? { decision: 'Choose a decision, or enter its UUID.' } : {}),
      ...(kind === 'request' && from.trim() === '' ? { from: 'Enter the requesting wallet.' } : {}),
    }),
    fieldNames: {
      'request.from': 'from',
      'request.to': 'to',
      'request.data': 'data',
      'request.msg_value': 'msg_value',
      'request.time': 'time',
    },
    submit: async ({ decision, facts, ...fields }): Promise<void> => {
      const { user_ip } = fields
      const request = kind === 'request' ? { chain, ...filled(fields) } : filled({ user_ip })
      setResult(
        await call('POST /organizations/{organization}/policies/simulate', {
          params,
          body: {
            ...subjectOf(subject, draft, revisions),
            ...(kind === 'decision' ? { decision: decision.trim() } : {}),
            ...(Object.keys(request).length === 0 ? {} : { request }),
            ...parseFacts(facts),
          },
        }),
      )
    },
  })
  const recorded = recent.value?.data ?? []
  const example = checked === null ? '' : exampleFacts(checked)

  return (
    <div class="trial">
      <Card title="Try it" text="Nothing is signed or recorded.">
        <form {...form.attributes} class="form">
          <SubjectField value={subject} onValue={setSubject} revisions={revisions} draft={draft} />
          <Segments
            label="Input"
            choices={[
              { value: 'request', label: 'Request' },
              { value: 'decision', label: 'Recorded decision' },
            ]}
            value={kind}
            onValue={(value) => setKind(value as typeof kind)}
          />
          {kind === 'request' ? (
            <RequestFields form={form} chain={chain} names={names} />
          ) : (
            <RecordedFields form={form} recorded={recorded} />
          )}
          <TextArea
            {...form.text('facts')}
            label="Source data"
            optional
            mono
            rows={form.values.facts === '' ? 2 : 9}
            hint="JSON. Missing data is read from the current sources and lists."
          />
          <div class="form-actions">
            <Button kind="primary" icon="play" submit busy={form.busy}>
              Try it
            </Button>
            {example !== '' && <Button onClick={() => form.set('facts', example)}>Insert example</Button>}
          </div>
          <Problem error={form.failure} />
        </form>
      </Card>
      <div ref={place} aria-live="polite">
        {result === null ? (
          <Card>
            <Empty icon="scale" title="Rule by rule">
              <p>See the result of each rule for this request, the decisive rule and the facts.</p>
            </Empty>
          </Card>
        ) : (
          <TrialResult result={result} />
        )}
      </div>
    </div>
  )
}
