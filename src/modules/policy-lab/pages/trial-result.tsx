import type { AnswerOf } from '../../../dashboard/page/api/client.ts'
import { CodeBlock } from '../../../dashboard/page/ui/copy.tsx'
import { Badge, Card } from '../../../dashboard/page/ui/parts.tsx'
import { Notice } from '../../../dashboard/page/ui/problem.tsx'
import { Table } from '../../../dashboard/page/ui/table.tsx'

export type Simulation = AnswerOf<'POST /organizations/{organization}/policies/simulate'>
type Rule = Simulation['rules'][number]
type Decisive = { readonly [Kind in Rule['kind']]: { readonly tone: 'good' | 'bad' | 'info'; readonly words: string } }

const REQUEST_WORDS: Decisive = {
  allow: { tone: 'good', words: 'Decisive: compliant' },
  deny: { tone: 'bad', words: 'Decisive: denied' },
  require: { tone: 'bad', words: 'Decisive: denied' },
  review: { tone: 'info', words: 'Decisive: review' },
}
const SESSION_WORDS: Decisive = {
  ...REQUEST_WORDS,
  allow: { tone: 'good', words: 'Decisive: approved' },
  deny: { tone: 'bad', words: 'Decisive: rejected' },
  require: { tone: 'bad', words: 'Decisive: rejected' },
}

const RULE_WORDS: Readonly<Record<string, string>> = {
  'list:deny': 'the organization’s deny list',
  'list:allow': 'the organization’s allow list',
}

const ruleWords = (rule: string | null): string =>
  rule === null ? 'default, because no rule matched' : (RULE_WORDS[rule] ?? `rule ${rule}`)

const Unasked = ({ names }: { readonly names: readonly string[] }) =>
  names.length === 0 ? null : (
    <Notice tone="info" title="Not queried">
      <p>
        {names.join(', ')}: only organization admins can query screeners and chains, because queries may cost money.
        Viewers cannot query identities. Enter their data under “Source data”.
      </p>
    </Notice>
  )

const Verdict = ({ result }: { readonly result: Simulation }) => {
  const { verdict, rule, code, message, failure } = result
  if (verdict === null) {
    return (
      <Notice tone="warn" title="No verdict">
        <p>{failure}: a real request would fail without a signature.</p>
      </Notice>
    )
  }
  return (
    <Notice tone={verdict === 'compliant' ? 'good' : 'bad'} title={verdict === 'compliant' ? 'Compliant' : 'Denied'}>
      <p>
        By {ruleWords(rule)}
        {code !== null && (
          <>
            , with the code <code>{code}</code>
          </>
        )}
        .
      </p>
      {message !== null && <p>“{message}”</p>}
    </Notice>
  )
}

const valueWords = ({ value, failure }: Rule) => {
  if (failure !== null) return <span class="rule-failure">{failure}</span>
  return value === null ? 'fails' : <code>{String(value)}</code>
}

const outcomeOf = ({ decisive, reached, kind, failure }: Rule, ofSessions: boolean) => {
  if (!reached) return <span class="faint">not reached</span>
  if (failure !== null) return <Badge tone="warn">{ofSessions ? 'Left to a reviewer' : 'No verdict'}</Badge>
  if (!decisive) return <span class="soft">no match</span>
  const { tone, words } = (ofSessions ? SESSION_WORDS : REQUEST_WORDS)[kind]
  return <Badge tone={tone}>{words}</Badge>
}

interface RulesProps {
  readonly rules: readonly Rule[]
  readonly ofSessions?: boolean
}

export const RulesTable = ({ rules, ofSessions = false }: RulesProps) => (
  <Card title="Rules in order" flush>
    <Table<Rule>
      caption="Rules"
      rows={rules}
      rowKey={({ id }) => id}
      dimmed={({ reached }) => !reached}
      columns={{
        Rule: ({ id }) => <strong>{id}</strong>,
        Kind: { narrow: true, cell: ({ kind }) => kind },
        Value: valueWords,
        Effect: (rule) => outcomeOf(rule, ofSessions),
      }}
    />
  </Card>
)

export const TrialResult = ({ result }: { readonly result: Simulation }) => (
  <div class="trial-result">
    <Verdict result={result} />
    <Unasked names={result.unasked} />
    {result.missing.length > 0 && (
      <Notice tone="warn" title="The request would be refused">
        <p>A rule reads {result.missing.join(', ')}, which is missing. A real request would fail with status 400.</p>
      </Notice>
    )}
    <RulesTable rules={result.rules} />
    <Card title="Other facts">
      {Object.values(result.facts).every((fact) => JSON.stringify(fact) === '{}') ? (
        <p class="soft">The policy used no other facts.</p>
      ) : (
        <CodeBlock label="facts" code={JSON.stringify(result.facts, null, 2)} />
      )}
    </Card>
  </div>
)
