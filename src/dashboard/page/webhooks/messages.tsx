// Messages to webhook endpoints: pending, delivered and failed.
import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { WebhookEndpoint, WebhookMessage } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { useSearchParam } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { type Action, ActionButton, action } from '../ui/actions.tsx'
import { Copyable } from '../ui/copy.tsx'
import { SelectField } from '../ui/field.tsx'
import { ResourceCard } from '../ui/resource.tsx'
import { badge, named } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'

const STATES = { waiting: ['warn', 'Pending'], delivered: ['good', 'Delivered'], dead: ['bad', 'Failed'] } as const
const CHOICES = { '': 'All', waiting: 'Pending', delivered: 'Delivered', dead: 'Failed' }

const isState = (text: string): text is keyof typeof STATES => Object.hasOwn(STATES, text)

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
        Endpoint: ({ endpoint_id: id }) => <code>{endpoints.find((endpoint) => endpoint.id === id)?.url ?? id}</code>,
        Status: badge(({ state: at }) => STATES[at]),
        Attempts: ({ attempts, last_status: status, last_failure: failure }) =>
          [attempts, status !== null && `, last ${status}`, failure !== null && `: ${failure}`]
            .filter(Boolean)
            .join(''),
        'Next attempt or end': {
          narrow: true,
          cell: ({ next_attempt_at: next, settled_at: settled }) => <Time at={next ?? settled} none="—" />,
        },
        '': ({ id, state: at }) =>
          mayChange && at !== 'waiting' && <ActionButton small action={resend(id)} onDone={pages.reload} />,
      }}
      empty={[
        'webhook',
        'No messages',
        state === '' ? 'Messages appear here when a session changes.' : 'No messages have this status.',
      ]}
    />
  )
}
