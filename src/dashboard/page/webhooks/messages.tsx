// What was sent to the endpoints, what waits to be tried again, and what nobody took.

import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { WebhookEndpoint, WebhookMessage } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { usePages } from '../data/use-pages.ts'
import { useSearchParam } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { SelectField } from '../ui/field.tsx'
import { Badge, Card, Empty } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'

type State = WebhookMessage['state']

const STATES = {
  waiting: <Badge tone="warn">Waiting</Badge>,
  delivered: <Badge tone="good">Delivered</Badge>,
  dead: <Badge tone="bad">Not taken</Badge>,
} as const

const isState = (text: string): text is State => Object.hasOwn(STATES, text)

export const Messages = ({
  endpoints,
  mayChange,
}: {
  readonly endpoints: readonly WebhookEndpoint[]
  readonly mayChange: boolean
}) => {
  const { params } = useWorkplace()
  const [state, setState] = useSearchParam('state')
  const pages = usePages(
    (cursor, signal) =>
      call('GET /organizations/{organization}/webhook-messages', {
        params,
        query: { cursor, ...(isState(state) ? { state } : {}) },
        signal,
      }),
    [params.organization, state],
  )
  const resend = useAction(async (message: string) => {
    await call('POST /organizations/{organization}/webhook-messages/{message}/resend', {
      params: { ...params, message },
    })
    say('It is sent again')
    pages.reload()
  })
  const resendDead = useAction(async () => {
    const { messages } = await call('POST /organizations/{organization}/webhook-messages/resend-dead', { params })
    say(counted(messages, 'message is sent again', 'messages are sent again'))
    pages.reload()
  })
  const urlOf = (id: string): string => endpoints.find((endpoint) => endpoint.id === id)?.url ?? id
  return (
    <Card
      flush
      title="Messages"
      actions={
        <>
          <SelectField
            label="Show"
            value={state}
            onValue={setState}
            choices={[
              { value: '', label: 'All' },
              { value: 'waiting', label: 'Waiting' },
              { value: 'delivered', label: 'Delivered' },
              { value: 'dead', label: 'Not taken' },
            ]}
          />
          {mayChange && state === 'dead' && (
            <Button small icon="turn" busy={resendDead.busy} onClick={() => resendDead.run()}>
              Send all again
            </Button>
          )}
        </>
      }
    >
      <Problem error={resend.failure ?? resendDead.failure} />
      <PagedTable<WebhookMessage>
        caption="Messages"
        pages={pages}
        rowKey={({ id }) => id}
        columns={[
          {
            label: 'Message',
            cell: ({ id, type }) => (
              <span class="cell-stack">
                <strong>{type}</strong>
                <span class="faint">
                  <Copyable text={id} label="message id" short />
                </span>
              </span>
            ),
          },
          { label: 'To', cell: ({ endpoint_id: id }) => <code>{urlOf(id)}</code> },
          { label: 'State', narrow: true, cell: (message) => STATES[message.state] },
          {
            label: 'Attempts',
            cell: ({ attempts, last_status: status, last_failure: failure }) => (
              <>
                {attempts}
                {status !== null && `, last ${status}`}
                {failure !== null && `: ${failure}`}
              </>
            ),
          },
          {
            label: 'Next or settled',
            narrow: true,
            cell: ({ next_attempt_at: next, settled_at: settled }) => <Time at={next ?? settled} none="—" />,
          },
          {
            label: '',
            align: 'end',
            narrow: true,
            cell: ({ id, state: at }) =>
              mayChange &&
              at !== 'waiting' && (
                <Button small busy={resend.busy} onClick={() => resend.run(id)}>
                  Send again
                </Button>
              ),
          },
        ]}
        empty={
          <Empty icon="webhook" title="No messages">
            <p>
              {state === ''
                ? 'They appear here as soon as a session changes.'
                : 'None in this state: choose “All” to see the others.'}
            </p>
          </Empty>
        }
      />
    </Card>
  )
}
