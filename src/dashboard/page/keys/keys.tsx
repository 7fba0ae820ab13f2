// The keys with which programs call: issued, renewed with an overlap, revoked. A key itself is shown when it is made and
// never again.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { ApiKey } from '../api/types.ts'
import { usePages } from '../data/use-pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { useMake } from '../shell/use-make.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { RowMenu } from '../ui/menu.tsx'
import { Badge, Card, Empty, Page } from '../ui/parts.tsx'
import { type Column, PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { IssueKey } from './issue-key.tsx'
import { RegenerateKey, RevokeKey } from './renew-key.tsx'

const KIND_LABELS: Readonly<Record<ApiKey['kind'], string>> = {
  attestation: 'Attestation',
  identity: 'Identity',
  admin: 'Admin',
}

const statusOf = (key: ApiKey) => {
  if (key.status === 'revoked') return <Badge tone="bad">Revoked</Badge>
  if (key.status === 'expired') return <Badge tone="warn">Expired</Badge>
  if (key.replaced_by !== null) return <Badge tone="warn">Being replaced</Badge>
  return <Badge tone="good">Active</Badge>
}

type DialogAction = { readonly kind: 'issue' } | { readonly kind: 'regenerate' | 'revoke'; readonly key: ApiKey }

export const Keys = () => {
  const { params, may } = useWorkplace()
  const mayChange = may('organization-admin')
  const [dialogAction, setDialogAction] = useState<DialogAction | null>(null)
  const pages = usePages(
    (cursor, signal) => call('GET /organizations/{organization}/keys', { params, query: { cursor }, signal }),
    [params.organization],
  )
  const issue = (): void => setDialogAction({ kind: 'issue' })
  const close = (): void => setDialogAction(null)
  useMake('Issue a key', () => {
    if (mayChange) issue()
  })

  const columns: readonly Column<ApiKey>[] = [
    {
      label: 'Name',
      cell: (key) => (
        <span class="cell-stack">
          <strong>{key.name}</strong>
          <span class="faint">
            <Copyable text={key.id} label="key id" />
          </span>
        </span>
      ),
    },
    {
      label: 'For',
      cell: (key) => (
        <>
          {KIND_LABELS[key.kind]} {key.environment === 'test' && <Badge tone="info">Test</Badge>}{' '}
          {key.scopes.includes('deployment') && <Badge tone="warn">Deployment</Badge>}
        </>
      ),
    },
    { label: 'Status', narrow: true, cell: statusOf },
    {
      label: 'Limit',
      cell: ({ rate_limit: limit }) =>
        limit === null ? 'None' : `${limit.requests_per_second.toLocaleString('en')}/s`,
    },
    { label: 'Last used', narrow: true, cell: (key) => <Time at={key.last_used_at} /> },
    { label: 'Ends', narrow: true, cell: (key) => <Time at={key.revoked_at ?? key.expires_at} /> },
    {
      label: '',
      align: 'end',
      narrow: true,
      cell: (key) =>
        mayChange && key.status === 'active' ? (
          <RowMenu
            label={`Actions for ${key.name}`}
            items={[
              ...(key.replaced_by === null
                ? [
                    {
                      label: 'Regenerate…',
                      icon: 'turn' as const,
                      onSelect: () => setDialogAction({ kind: 'regenerate', key }),
                    },
                  ]
                : []),
              {
                label: 'Revoke…',
                icon: 'trash',
                danger: true,
                onSelect: () => setDialogAction({ kind: 'revoke', key }),
              },
            ]}
          />
        ) : null,
    },
  ]

  return (
    <Page
      title="API keys"
      lead="Programs send one with every request. Attestation keys sign for your projects, identity keys start sessions, admin keys do what this dashboard does."
      actions={
        mayChange && (
          <Button kind="primary" icon="plus" onClick={issue}>
            Issue a key
          </Button>
        )
      }
    >
      <Card flush>
        <PagedTable
          caption="API keys"
          pages={pages}
          columns={columns}
          rowKey={({ id }) => id}
          dimmed={({ status }) => status !== 'active'}
          empty={
            <Empty
              icon="key"
              title="No keys yet"
              actions={mayChange && <Button onClick={issue}>Issue the first key</Button>}
            >
              <p>
                Your backend asks for attestations with an attestation key in the header <code>x-api-key</code>. Give
                each program its own, so that one can be revoked without the others.
              </p>
            </Empty>
          }
        />
      </Card>
      {dialogAction?.kind === 'issue' && <IssueKey onClose={close} onIssued={pages.reload} />}
      {dialogAction?.kind === 'regenerate' && (
        <RegenerateKey apiKey={dialogAction.key} onClose={close} onDone={pages.reload} />
      )}
      {dialogAction?.kind === 'revoke' && <RevokeKey apiKey={dialogAction.key} onClose={close} onDone={pages.reload} />}
    </Page>
  )
}
