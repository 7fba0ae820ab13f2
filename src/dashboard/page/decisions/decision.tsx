import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import type { AnswerOf } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { type Query, useRead } from '../data/use-query.ts'
import { useReadLater } from '../data/use-read-later.ts'
import type { PageProps } from '../pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { CodeBlock, Copyable, CopyButton } from '../ui/copy.tsx'
import { Icon } from '../ui/icons.tsx'
import { Badge, Card, Empty, Facts, Loading, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { zoneWord } from '../ui/relative-time.ts'
import { Time } from '../ui/time.tsx'
import { amountText, currencyOf } from './currency.ts'
import { LIST_RULES, preciseTime, RuleOf } from './labels.tsx'
import { Proof } from './proof.tsx'
import { ruleSource } from './rule-source.ts'
import { isUuid } from './search.ts'

type Answer = AnswerOf<'GET /organizations/{organization}/decisions/{uuid}'>
const LOOK_AGAIN_MS = 1_000
const LOOKS_MAX = 15

const isoOf = (unixSeconds: number): string => new Date(unixSeconds * 1000).toISOString()

const Revision = ({ number, id }: { readonly number: number | null; readonly id: string }) => (
  <>
    {number !== null && <>Revision {number} </>}
    <Copyable text={id} label="revision" />
  </>
)

const isDenied = ({ decision }: Answer): boolean => decision.verdict === 'denied'

const Headline = ({ answer }: { readonly answer: Answer }) => {
  const { path } = useWorkplace()
  const { rule, policy_id: policy } = answer.decision
  const list = rule === null ? undefined : LIST_RULES[rule]
  return (
    <>
      <span class={`verdict-mark ${isDenied(answer) ? 'badge-bad' : 'badge-good'}`}>
        <Icon name={isDenied(answer) ? 'cross' : 'check'} />
      </span>{' '}
      {isDenied(answer) ? 'Denied' : 'Compliant'} by{' '}
      {rule === null ? (
        <a href={path(`/policies/${policy}`)}>the policy’s default</a>
      ) : list === undefined ? (
        <>
          rule{' '}
          <a href={path(`/policies/${policy}`)}>
            <code>{rule}</code>
          </a>
        </>
      ) : (
        <>
          the <a href={path(`/lists/${list === 'Deny list' ? 'deny' : 'allow'}`)}>{list.toLowerCase()}</a>
        </>
      )}
    </>
  )
}

const Reason = ({ answer: { decision } }: { readonly answer: Answer }) => (
  <>
    {decision.message !== null && <strong>{decision.message} </strong>}
    {decision.code !== null && <code>{decision.code} </code>}
    <time dateTime={decision.at}>
      {preciseTime(decision.at)} {zoneWord(new Date(decision.at))}
    </time>
  </>
)

const Outcome = ({ answer: { decision, names } }: { readonly answer: Answer }) => {
  const { path } = useWorkplace()
  const items: readonly (readonly [name: string, value: ComponentChildren])[] = [
    ['Type', decision.kind === 'task' ? 'Task' : 'Attestation'],
    ['UUID', <Copyable key="uuid" text={decision.uuid} label="UUID" />],
    [
      'Policy',
      // The policy's name at the time of the decision.
      <a key="policy" href={path(`/policies/${decision.policy_id}`)}>
        {decision.policy_name}
      </a>,
    ],
    ['Revision', <Revision key="revision" number={names.revision} id={decision.revision_id} />],
    [
      'Project',
      <a key="project" href={path(`/projects/${decision.project_id}`)}>
        {names.project ?? decision.project_id}
      </a>,
    ],
    ['Verification hash', <Copyable key="hash" text={decision.verification_hash} label="verification hash" />],
    [
      'API key',
      <span key="key">
        {names.key !== null && <a href={path('/keys')}>{names.key}</a>} <code>{decision.key_id}</code>
      </span>,
    ],
    ['Request', <code key="request">{decision.request_id}</code>],
  ]
  return (
    <Card title="Decision">
      {decision.withheld && (
        <Notice tone="warn" title="The response was not sent in time">
          <p>
            The decision was made after the deadline, so the caller received a timeout and no signature. A retry with
            the same <code>Idempotency-Key</code> may still return this response while it is valid.
          </p>
        </Notice>
      )}
      <Facts items={items} />
      {decision.shadow !== null && (
        <Notice title="Shadow revision">
          <p>
            <Revision number={names.shadow_revision} id={decision.shadow.revision_id} />{' '}
            {decision.shadow.verdict === null ? (
              <>
                could not be evaluated
                {decision.shadow.rule !== null && (
                  <>
                    : <RuleOf rule={decision.shadow.rule} /> failed
                  </>
                )}
                {decision.shadow.failure !== null && `: ${decision.shadow.failure}`}
              </>
            ) : (
              <>
                would have decided <strong>{decision.shadow.verdict}</strong>, by <RuleOf rule={decision.shadow.rule} />
              </>
            )}
            .
          </p>
        </Notice>
      )}
    </Card>
  )
}

const Amount = ({ value, chain }: { readonly value: string; readonly chain: string }) => {
  const currency = currencyOf(chain)
  const text = currency === null ? null : amountText(value, currency)
  return (
    <>
      {text !== null && <>{text}, </>}
      <code>{value}</code> {currency?.unit}
    </>
  )
}

const Request = ({ answer: { decision, basis, names } }: { readonly answer: Answer }) => {
  const { path } = useWorkplace()
  const data = basis.data
  return (
    <Card title="Input">
      <Facts
        items={[
          [
            'Wallet',
            <span key="from">
              <Copyable text={decision.from} label="wallet" />{' '}
              <a href={path(`/decisions/wallets/${decision.from}`)}>View wallet</a>
            </span>,
          ],
          ...(decision.on_behalf === null
            ? []
            : [['On behalf of', <Copyable key="on-behalf" text={decision.on_behalf} label="address" />] as const]),
          ['Chain', decision.chain],
          [
            'To',
            <span key="to">
              {names.contract !== null && <strong>{names.contract} </strong>}
              {names.to !== null && <span class="soft">Contract of {names.to} </span>}
              <Copyable text={decision.to} label="address" />
            </span>,
          ],
          ['Value', <Amount key="value" value={decision.value} chain={decision.chain} />],
          [
            'Call data',
            decision.data_size === 0 ? <span class="faint">none</span> : counted(decision.data_size, 'byte', 'bytes'),
          ],
          ...(decision.data_size === 0
            ? []
            : ([
                ['Call data SHA-256', <Copyable key="sha" text={decision.data_sha256} label="call data hash" short />],
              ] as const)),
          ...(basis.requested_at === null
            ? []
            : ([['Evaluation time', <Time key="time" at={basis.requested_at} full />]] as const)),
        ]}
      />
      {data !== null && data !== '0x' && (
        <details class="proof">
          <summary>Call data</summary>
          <CodeBlock label="call data" code={data} />
        </details>
      )}
      <h3>Other facts</h3>
      {basis.facts === null ? (
        <p class="soft">The policy used no other facts.</p>
      ) : (
        <>
          <CodeBlock label="facts" code={JSON.stringify(basis.facts, null, 2)} />
          <p class="faint">Personal data is stored only as a keyed hash.</p>
        </>
      )}
    </Card>
  )
}

const Signatures = ({ answer: { decision } }: { readonly answer: Answer }) => (
  <Card title="Signed">
    {decision.signatures.length === 0 ? (
      <p class="soft">Nothing: denials aren’t signed.</p>
    ) : (
      <>
        <Facts items={[['Expires', <Time key="expires" at={isoOf(decision.expiration)} full />]]} />
        {decision.signatures.map((signature, index) => (
          <Facts
            key={signature}
            items={[
              ['Attester', <Copyable key="attester" text={decision.attesters[index] ?? ''} label="attester" />],
              ['Signature', <Copyable key="signature" text={signature} label="signature" />],
            ]}
          />
        ))}
      </>
    )}
  </Card>
)

const isUnknown = (error: unknown): boolean => error instanceof ApiError && error.status === 404

/** Reads an unknown decision again, because the search index contains it only moments after it is made. */
const useLookAgain = ({ value, error, reload }: Query<Answer>, uuid: string): void => {
  const looked = useRef({ uuid, times: 0 })
  if (looked.current.uuid !== uuid) looked.current = { uuid, times: 0 }
  const wanted = value === null && isUuid(uuid) && isUnknown(error) && looked.current.times < LOOKS_MAX
  // Each response is a different error object.
  useReadLater(wanted, error, LOOK_AGAIN_MS, () => {
    looked.current.times += 1
    reload()
  })
}

const Rule = ({ answer: { decision } }: { readonly answer: Answer }) => {
  const { params } = useWorkplace()
  const { value } = useRead('GET /organizations/{organization}/policies/{policy}/revisions/{revision}', {
    params: { ...params, policy: decision.policy_id, revision: decision.revision_id },
  })
  const source = value === null || decision.rule === null ? null : ruleSource(value.source, decision.rule)
  return source === null ? null : (
    <Card title="Rule">
      <CodeBlock label="rule" code={source} />
    </Card>
  )
}

export const DecisionPage = ({ params: { uuid = '' } }: PageProps) => {
  const { params, path } = useWorkplace()
  const decision = useRead('GET /organizations/{organization}/decisions/{uuid}', { params: { ...params, uuid } })
  useLookAgain(decision, uuid)
  const crumbs = [{ label: 'Decisions', href: path('/decisions') }]
  const { value, error } = decision
  if (value === null) {
    return (
      <Page title="Decision" crumbs={crumbs}>
        {isUnknown(error) ? (
          <Empty
            icon="search"
            title="Decision not found"
            actions={
              <Button icon="turn" busy={decision.loading} onClick={decision.reload}>
                Search again
              </Button>
            }
          >
            <p>
              {isUuid(uuid)
                ? 'This organization’s log has no decision with this UUID. A very recent decision may not be indexed yet; this page checks again automatically.'
                : 'This is not a valid UUID.'}
            </p>
          </Empty>
        ) : error === null ? (
          <Loading />
        ) : (
          <Problem error={error} retry={decision.reload} />
        )}
      </Page>
    )
  }
  return (
    <Page
      title={isDenied(value) ? 'Denied' : 'Compliant'}
      heading={<Headline answer={value} />}
      crumbs={crumbs}
      badge={value.decision.withheld && <Badge tone="warn">Not sent</Badge>}
      lead={<Reason answer={value} />}
      actions={<CopyButton text={JSON.stringify(value, null, 2)} label="decision as JSON" words="Copy JSON" />}
    >
      <div class="columns">
        <Outcome answer={value} />
        <Request answer={value} />
      </div>
      {value.decision.rule !== null && !(value.decision.rule in LIST_RULES) && <Rule answer={value} />}
      <Signatures answer={value} />
      <Proof proof={value.proof} uuid={value.decision.uuid} />
    </Page>
  )
}
