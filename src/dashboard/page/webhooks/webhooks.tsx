// Where the organization’s own systems are told of identity sessions: endpoints, their secrets, and what was delivered.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { WebhookEndpoint } from '../api/types.ts'
import { useQuery } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { useMake } from '../shell/use-make.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { RowMenu } from '../ui/menu.tsx'
import { Badge, Card, Empty, Page } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { AddEndpoint, RemoveEndpoint, RotateSecret } from './endpoint-dialogs.tsx'
import { Messages } from './messages.tsx'
import { SERVICE_NAMES, ServiceDialog } from './service-dialog.tsx'

type DialogAction =
  | { readonly kind: 'add' }
  | { readonly kind: 'rotate' | 'service' | 'remove'; readonly endpoint: WebhookEndpoint }

export const Webhooks = () => {
  const { params, may } = useWorkplace()
  const mayChange = may('organization-admin')
  const [dialogAction, setDialogAction] = useState<DialogAction | null>(null)
  const query = useQuery(
    (signal) => call('GET /organizations/{organization}/webhooks', { params, signal }),
    [params.organization],
  )
  const { value, reload } = query
  const add = (): void => setDialogAction({ kind: 'add' })
  const close = (): void => setDialogAction(null)
  useMake('Add an endpoint', () => {
    if (mayChange) add()
  })
  return (
    <Page
      title="Webhooks"
      lead="Your own systems are told when an identity session changes. Messages are signed, tried again for days, and listed below."
      actions={
        mayChange && (
          <Button kind="primary" icon="plus" onClick={add}>
            Add an endpoint
          </Button>
        )
      }
    >
      <Card flush title="Endpoints">
        <Loaded query={query}>
          {(value) =>
            value.data.length === 0 ? (
              <Empty
                icon="webhook"
                title="Nobody is told yet"
                actions={mayChange && <Button onClick={add}>Add the first</Button>}
              >
                <p>
                  Add your backend’s address, keep the secret it gets, and check each message’s signature with it.
                  Without one, ask for a session’s status, or follow its event stream.
                </p>
              </Empty>
            ) : (
              <Table<WebhookEndpoint>
                caption="Endpoints"
                rows={value.data}
                rowKey={({ id }) => id}
                columns={[
                  { label: 'URL', cell: ({ url }) => <code>{url}</code> },
                  {
                    label: 'For',
                    cell: ({ purpose, service, service_path: path }) => (
                      <>
                        {purpose === 'events' ? 'Events' : 'Decisions'}
                        {service !== null && `, also by ${SERVICE_NAMES[service]}`}
                        {path !== null && (
                          <div class="faint">
                            <Copyable text={path} label="path for its webhooks" short />
                          </div>
                        )}
                      </>
                    ),
                  },
                  {
                    label: 'Sessions',
                    narrow: true,
                    cell: ({ environment }) =>
                      environment === 'test' ? <Badge tone="info">Test</Badge> : <Badge tone="good">Live</Badge>,
                  },
                  {
                    label: 'Secret',
                    cell: ({ old_secret_until: until }) =>
                      until === null ? (
                        'One'
                      ) : (
                        <>
                          Two, until <Time at={until} />
                        </>
                      ),
                  },
                  {
                    label: '',
                    align: 'end',
                    narrow: true,
                    cell: (endpoint) =>
                      mayChange && (
                        <RowMenu
                          label={`Actions for ${endpoint.url}`}
                          items={[
                            {
                              label: 'New secret…',
                              icon: 'turn',
                              onSelect: () => setDialogAction({ kind: 'rotate', endpoint }),
                            },
                            ...(endpoint.purpose === 'decisions'
                              ? [
                                  {
                                    label: 'Verification service…',
                                    icon: 'check' as const,
                                    onSelect: () => setDialogAction({ kind: 'service', endpoint }),
                                  },
                                ]
                              : []),
                            {
                              label: 'Remove…',
                              icon: 'trash',
                              danger: true,
                              onSelect: () => setDialogAction({ kind: 'remove', endpoint }),
                            },
                          ]}
                        />
                      ),
                  },
                ]}
              />
            )
          }
        </Loaded>
      </Card>
      {value !== null && <Messages endpoints={value.data} mayChange={mayChange} />}
      {dialogAction?.kind === 'add' && <AddEndpoint onClose={close} onDone={reload} />}
      {dialogAction?.kind === 'rotate' && (
        <RotateSecret endpoint={dialogAction.endpoint} onClose={close} onDone={reload} />
      )}
      {dialogAction?.kind === 'service' && (
        <ServiceDialog endpoint={dialogAction.endpoint} onClose={close} onDone={reload} />
      )}
      {dialogAction?.kind === 'remove' && (
        <RemoveEndpoint endpoint={dialogAction.endpoint} onClose={close} onDone={reload} />
      )}
    </Page>
  )
}
