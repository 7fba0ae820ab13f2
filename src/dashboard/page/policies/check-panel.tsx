import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { CheckedPolicy, PolicyIssue } from '../api/types.ts'
import { useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { ActionButton } from '../ui/actions.tsx'
import { Icon } from '../ui/icons.tsx'
import { Badge, Card, Loading } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { type Check, isGood } from './use-check.ts'

/** Parses the names of missing lists from the messages of the policy check; a test compares the two. */
export const missingLists = (issues: readonly { readonly message: string }[]): ReadonlySet<string> =>
  new Set(issues.flatMap(({ message }) => /^unknown list "([a-z0-9_]+)"/.exec(message)?.[1] ?? []))

const KIND_TONES = { allow: 'good', deny: 'bad', require: 'info', review: 'warn' } as const

interface Place {
  readonly onPlace: (line: number, column: number) => void
}

interface IssuesProps extends Place {
  readonly issues: readonly PolicyIssue[]
  readonly again: () => void
}

const Issues = ({ issues, onPlace, again }: IssuesProps) => {
  const { params, may } = useWorkplace()
  return (
    <>
      <ol class="issues">
        {issues.map(({ line, column, message, pointer }) => (
          <li key={`${line} ${column} ${message}`}>
            <button type="button" class="issue" onClick={() => onPlace(line, column)}>
              <span class="issue-place">
                Line {line}, column {column}
                {pointer !== '' && <code class="faint"> {pointer}</code>}
              </span>
              <span>{message}</span>
            </button>
          </li>
        ))}
      </ol>
      {may('organization-admin') &&
        [...missingLists(issues)].map((name) => (
          <p key={name}>
            <ActionButton
              small
              action={{
                label: `Create list “${name}”`,
                icon: 'plus',
                run: () => call('POST /organizations/{organization}/lists', { params, body: { name } }),
                done: 'Empty list created',
              }}
              onDone={again}
            />
          </p>
        ))}
    </>
  )
}

const FIELD_WORDS: Readonly<Record<string, string>> = {
  data: 'data (call data)',
  msg_value: 'msg_value',
  user_ip: 'user_ip (client IP address)',
}

const Summary = ({ policy }: { readonly policy: CheckedPolicy }) => (
  <>
    <ol class="rules">
      {policy.rules.map(({ id, kind, code }) => (
        <li key={id}>
          <Badge tone={KIND_TONES[kind]}>{kind}</Badge>
          <span class="rule-name">{id}</span>
          {code !== null && <code class="faint">{code}</code>}
        </li>
      ))}
      <li>
        <Badge tone={KIND_TONES[policy.default]}>{policy.default}</Badge>
        <span class="rule-name soft">otherwise</span>
      </li>
    </ol>
    {policy.requires.length > 0 && (
      <p class="soft">Callers must send {policy.requires.map((field) => FIELD_WORDS[field] ?? field).join(', ')}.</p>
    )}
    {policy.asks_for.length > 0 && <p class="soft">Requests data from {policy.asks_for.join(', ')}.</p>}
  </>
)

const Tests = ({ source, count }: { readonly source: string; readonly count: number }) => {
  const { params } = useWorkplace()
  const { value, error, loading, reload } = useRead('POST /organizations/{organization}/policies/test', {
    params,
    body: { source },
  })
  if (count === 0 && (value?.results.length ?? 0) === 0) {
    return (
      <Card title="Policy tests">
        <p class="soft">
          No tests. Add requests and their expected verdicts under <code>tests:</code> to check them before every save.
          A change that breaks a test can’t be saved.
        </p>
      </Card>
    )
  }
  return (
    <Card
      title="Policy tests"
      actions={
        value !== null && (
          <Badge tone={value.failed === 0 ? 'good' : 'bad'}>
            {value.failed === 0
              ? counted(value.passed, 'test passes', 'tests pass')
              : `${counted(value.failed, 'test fails', 'tests fail')} of ${value.results.length}`}
          </Badge>
        )
      }
    >
      {value === null ? error === null && <Loading /> : null}
      <Problem error={error} retry={reload} />
      {value !== null && (
        <ol class="tests" aria-busy={loading}>
          {value.results.map(({ name, failure }) => (
            <li key={name} class={failure === null ? 'test-passed' : 'test-failed'}>
              <Icon name={failure === null ? 'check' : 'cross'} size={15} />
              <span>
                <span class="sr-only">{failure === null ? 'Passes: ' : 'Fails: '}</span>
                {name}
                {failure !== null && <span class="test-failure">{failure}</span>}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  )
}

const stateOf = (check: Check) => {
  if (check.pending) return <Badge>Checking</Badge>
  if (check.error !== null) return <Badge tone="warn">Not checked</Badge>
  const { length } = check.issues
  if (length > 0) return <Badge tone="bad">{counted(length, 'problem', 'problems')}</Badge>
  const doubts = check.warnings.length
  if (doubts > 0) return <Badge tone="warn">{counted(doubts, 'warning', 'warnings')}</Badge>
  return check.source === '' ? <Badge>Empty</Badge> : <Badge tone="good">No problems</Badge>
}

/** If only tests fail, they can still be run. */
const onlyTestsFail = (issues: readonly PolicyIssue[]): boolean =>
  issues.length > 0 && issues.every(({ pointer }) => pointer.startsWith('/tests/'))

export const CheckPanel = ({ check, onPlace }: Place & { readonly check: Check }) => {
  const { source, issues, warnings, policy, error } = check
  return (
    <div class="check-panel">
      <Card title="Check" actions={<span role="status">{stateOf(check)}</span>}>
        <Problem error={error} />
        {issues.length > 0 && <Issues issues={issues} onPlace={onPlace} again={check.again} />}
        {warnings.length > 0 && (
          <>
            <p class="soft">Likely mistakes. You can still save the document.</p>
            <Issues issues={warnings} onPlace={onPlace} again={check.again} />
          </>
        )}
        {issues.length === 0 && policy !== null && <Summary policy={policy} />}
      </Card>
      {source !== null && policy !== null && (isGood(check) || onlyTestsFail(issues)) && (
        <Tests source={source} count={policy.tests} />
      )}
    </div>
  )
}
