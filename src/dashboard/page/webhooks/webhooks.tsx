import type { WebhookMessageType } from '../../../domain/webhook-message.ts'
import { type AnswerOf, call } from '../api/client.ts'
import type { WebhookEndpoint } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { useModuleParts } from '../module-pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { action, type Outcome, showSecret } from '../ui/actions.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Notice } from '../ui/problem.tsx'
import { ResourcePage } from '../ui/resource.tsx'
import { badge } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { Messages, PAUSED, showContent } from './messages.tsx'

const SERVICES = { sumsub: 'Sumsub', persona: 'Persona', veriff: 'Veriff' } as const
const ENVIRONMENTS = { live: 'Live', test: 'Test' } as const
const EVENTS = {
  'session.status_changed': 'Status changed',
  'session.created': 'Session created',
  'session.wallets_changed': 'Wallets changed',
  'session.checked': 'Checks done',
  'screening.hit': 'New hit',
} as const satisfies Record<Exclude<WebhookMessageType, 'session.decision_requested'>, string>
const TEST = 'POST /organizations/{organization}/webhooks/{endpoint}/test'
const sendTest = (
  params: { readonly organization: string; readonly endpoint: string },
  body: { readonly type?: keyof typeof EVENTS },
) => call(TEST, { params, body })
const SEND_TEST = {
  label: 'Send test message',
  icon: 'external',
  text: 'Sends an example, signed with the endpoint’s secret. Its session doesn’t exist.',
  submit: 'Send',
  done: ({ status, failure, body }: AnswerOf<typeof TEST>): Outcome =>
    showContent(
      'Test message',
      body,
      <Notice tone={failure === null ? 'good' : 'bad'} title={failure === null ? 'Delivered' : 'Not delivered'}>
        <p>{failure === null ? `The endpoint returned status ${status}.` : `Reason: ${failure}.`}</p>
      </Notice>,
    ),
} as const
const PAUSE_TEXT =
  'Nothing is sent to a paused endpoint. Its messages wait, and are sent when you resume it. Requests in flight complete normally.'
const OVERLAPS = { 3600: 'In 1 hour', 86400: 'In 1 day', 604800: 'In 1 week' } as const
const SECRET_LEAD = 'Your endpoint verifies message signatures with this secret, as specified by Standard Webhooks.'

export const Webhooks = () => {
  const { params, may } = useWorkplace()
  const mayChange = may('organization-admin')
  const pages = useList('GET /organizations/{organization}/webhooks', { params })
  const ofModules = useModuleParts('deciderAction').value ?? []
  return (
    <ResourcePage<WebhookEndpoint>
      title="Webhooks"
      lead="Webhooks notify your systems when an identity session changes. Messages are signed and retried for several days."
      heading="Endpoints"
      pages={pages}
      rowKey={({ id }) => id}
      name={({ url }) => url}
      columns={{
        URL: ({ url }) => <code>{url}</code>,
        Purpose: ({ purpose, service, service_path: path }) => (
          <>
            {purpose === 'events' ? 'Events' : 'Decisions'}
            {service !== null && `, also from ${SERVICES[service]}`}
            {path !== null && (
              <div class="faint">
                <Copyable text={path} label="webhook path" short />
              </div>
            )}
          </>
        ),
        Environment: ({ environment }) => ENVIRONMENTS[environment],
        Status: badge(({ paused_since: since }) => (since === null ? ['good', 'Active'] : PAUSED)),
        'Old secret expires': ({ old_secret_until: until }) => <Time at={until} none="—" />,
      }}
      mayChange={mayChange}
      create={action({
        label: 'Add endpoint',
        submit: 'Add',
        fields: {
          url: { label: 'URL', type: 'url', placeholder: 'https://', maxLength: 2000 },
          purpose: {
            label: 'Purpose',
            radio: true,
            choices: {
              events: ['Events', 'Receives every change to a session.'],
              decisions: ['Decisions', 'Approves or rejects submitted sessions, in place of reviewers.'],
            },
          },
          environment: { label: 'Environment', choices: { live: 'Live sessions', test: 'Test sessions' } },
        },
        run: (body) => call('POST /organizations/{organization}/webhooks', { params, body }),
        done: ({ secret }) => showSecret('Endpoint added', 'Signing secret', secret, SECRET_LEAD),
      })}
      actions={(endpoint) => {
        const { id, url, purpose } = endpoint
        const one = { ...params, endpoint: id }
        const paused = endpoint.paused_since !== null
        return [
          purpose === 'decisions'
            ? action({ ...SEND_TEST, title: SEND_TEST.label, run: () => sendTest(one, {}) })
            : action({
                ...SEND_TEST,
                fields: { type: { label: 'Event', choices: EVENTS } },
                run: (body) => sendTest(one, body),
              }),
          {
            label: paused ? 'Resume' : 'Pause',
            icon: paused ? 'play' : 'pause',
            ...(paused ? {} : { title: 'Pause this endpoint?', text: PAUSE_TEXT }),
            run: () =>
              call('PATCH /organizations/{organization}/webhooks/{endpoint}', {
                params: one,
                body: { paused: !paused },
              }),
            done: paused ? 'Endpoint resumed' : 'Endpoint paused',
          },
          action({
            label: 'Rotate secret',
            icon: 'turn',
            title: 'Rotate signing secret',
            text: 'Until the old secret expires, messages have both signatures.',
            fields: { overlap: { label: 'Expire the old secret', choices: OVERLAPS, value: '86400' } },
            run: ({ overlap }) =>
              call('POST /organizations/{organization}/webhooks/{endpoint}/rotate', {
                params: one,
                body: { overlap_seconds: Number(overlap) },
              }),
            done: ({ secret }) => showSecret('Secret rotated', 'New signing secret', secret, SECRET_LEAD),
          }),
          ...(purpose === 'decisions' ? ofModules.map((actionFor) => actionFor(endpoint, params)) : []),
          {
            label: 'Delete',
            icon: 'trash',
            danger: true,
            title: 'Delete this endpoint?',
            submit: 'Delete endpoint',
            text: `${url} receives no more messages. Pending messages are discarded.`,
            run: () => call('DELETE /organizations/{organization}/webhooks/{endpoint}', { params: one }),
            done: 'Endpoint deleted',
          },
        ]
      }}
      empty={[
        'webhook',
        'No endpoints',
        'Add the address of your backend, and verify each message’s signature with the endpoint’s secret. Without webhooks, poll a session’s status or follow its event stream.',
      ]}
    >
      {pages.items !== null && <Messages endpoints={pages.items} mayChange={mayChange} />}
    </ResourcePage>
  )
}
