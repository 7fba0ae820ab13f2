import type { ComponentChildren } from 'preact'
import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { WebhookEndpoint, WebhookMessage } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { useSearchParam } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { type Action, ActionButton, action, type Outcome } from '../ui/actions.tsx'
import { CodeBlock, Copyable } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField } from '../ui/field.tsx'
import { ResourceCard } from '../ui/resource.tsx'
import { badge, named } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'

const STATES = { waiting: ['warn', 'Pending'], delivered: ['good', 'Delivered'], dead: ['bad', 'Failed'] } as const
export const PAUSED = ['info', 'Paused'] as const
const CHOICES = { '': 'All', waiting: 'Pending', delivered: 'Delivered', dead: 'Failed' }

export const showContent =
  (title: string, body: string, result: ComponentChildren = null): Outcome =>
  (close) => (
    <Dialog title={title} wide onClose={close}>
      {result}
      <CodeBlock label="content" code={JSON.stringify(JSON.parse(body), null, 2)} />
    </Dialog>
  )

const isState = (text: string): text is keyof typeof STATES => Object.hasOwn(STATES, text)

const isPaused = (endpoint: WebhookEndpoint | undefined): boolean => (endpoint?.paused_since ?? null) !== null

interface MessagesProps {
  readonly endpoints: readonly WebhookEndpoint[]
  readonly mayChange: boolean
}

export const Messages = ({ endpoints, mayChange }: MessagesProps) => {
  const { params } = useWorkplace()
  const [state, setState] = useSearchParam('state')
  const query = isState(state) ? { state } : {}
  const pages = useList('GET /organizations/{organization}/webhook-messages', { params, query })
  const resendAll = action({
    label: 'Resend all',
    icon: 'turn',
    run: () => call('POST /organizations/{organization}/webhook-messages/resend-dead', { params }),
    done: ({ messages }) => `Resending ${counted(messages, 'message', 'messages')}`,
  })
  const resend = (message: string): Action => ({
    label: 'Resend',
    run: () =>
      call('POST /organizations/{organization}/webhook-messages/{message}/resend', { params: { ...params, message } }),
    done: 'Resending the message',
  })
  const view = (message: string): Action =>
    action({
      label: 'View',
      run: () =>
        call('GET /organizations/{organization}/webhook-messages/{message}', { params: { ...params, message } }),
      done: ({ message: { type }, body }) => showContent(type, body),
    })
  const endpointOf = ({ endpoint_id: id }: WebhookMessage) => endpoints.find((endpoint) => endpoint.id === id)
  return (
    <ResourceCard<WebhookMessage>
      title="Messages"
      tools={
        <>
          <SelectField label="Status" value={state} onValue={setState} choices={CHOICES} />
          {mayChange && state === 'dead' && <ActionButton small action={resendAll} onDone={pages.reload} />}
        </>
      }
      pages={pages}
      rowKey={({ id }) => id}
      columns={{
        Message: ({ id, type }) => named(type, <Copyable text={id} label="message ID" short />),
        Endpoint: (message) => <code>{endpointOf(message)?.url ?? message.endpoint_id}</code>,
        Status: badge((message) =>
          message.state === 'waiting' && isPaused(endpointOf(message)) ? PAUSED : STATES[message.state],
        ),
        Attempts: ({ attempts, last_status: status, last_failure: failure }) =>
          [attempts, status !== null && `, last ${status}`, failure !== null && `: ${failure}`]
            .filter(Boolean)
            .join(''),
        'Next attempt or end': {
          narrow: true,
          cell: (message) => (
            <Time
              at={isPaused(endpointOf(message)) ? message.settled_at : (message.next_attempt_at ?? message.settled_at)}
              none="—"
            />
          ),
        },
        '': ({ id, state: at }) => (
          <>
            <ActionButton small kind="quiet" action={view(id)} />
            {mayChange && at !== 'waiting' && <ActionButton small action={resend(id)} onDone={pages.reload} />}
          </>
        ),
      }}
      empty={[
        'webhook',
        'No messages',
        state === '' ? 'Messages appear here when a session changes.' : 'No messages have this status.',
      ]}
    />
  )
}
