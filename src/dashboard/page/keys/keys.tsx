import { call } from '../api/client.ts'
import type { ApiKey } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { useSession, useWorkplace } from '../shell/session.ts'
import { action, showSecret } from '../ui/actions.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Badge } from '../ui/parts.tsx'
import { ResourcePage } from '../ui/resource.tsx'
import { badge, named, time } from '../ui/table.tsx'
import { createKey, KIND_LABELS } from './create-key.tsx'

const OVERLAPS = { 0: 'Now', 3600: 'In 1 hour', 86400: 'In 1 day', 604800: 'In 1 week', 2592000: 'In 30 days' } as const

export const Keys = () => {
  const { params, may } = useWorkplace()
  const { account } = useSession()
  const pages = useList('GET /organizations/{organization}/keys', { params })
  return (
    <ResourcePage<ApiKey>
      title="API keys"
      lead="Your servers authenticate with API keys. Use a separate key for each service, so you can revoke one without affecting the others."
      pages={pages}
      rowKey={({ id }) => id}
      name={({ name }) => name}
      dimmed={({ status }) => status !== 'active'}
      columns={{
        Name: ({ name, id }) => named(name, <Copyable text={id} label="key ID" />),
        Type: ({ kind, environment, scopes }) => (
          <span>
            {KIND_LABELS[kind]} {environment === 'test' && <Badge tone="info">Test</Badge>}{' '}
            {scopes.includes('deployment') && <Badge tone="warn">Deployment</Badge>}
          </span>
        ),
        Status: badge(({ status, replaced_by: successor }) => {
          if (status === 'revoked') return ['bad', 'Revoked']
          if (status === 'expired') return ['warn', 'Expired']
          return successor === null ? ['good', 'Active'] : ['warn', 'Being replaced']
        }),
        'Rate limit': ({ rate_limit: limit }) =>
          limit === null ? <span class="faint">none</span> : `${limit.requests_per_second.toLocaleString('en')}/s`,
        'Last used': time('last_used_at'),
        Expires: time('revoked_at', 'expires_at'),
      }}
      mayChange={may('organization-admin')}
      create={createKey({ params, mayAddDeployment: account.deployment_admin })}
      actions={({ id: key, name, status, replaced_by: successor }) => [
        status === 'active' &&
          successor === null &&
          action({
            label: 'Regenerate',
            icon: 'turn',
            title: `Regenerate ${name}`,
            text: 'The new key has the same name, type and rate limit. Deploy it before the old key expires.',
            fields: { overlap: { label: 'Expire the old key', choices: OVERLAPS, value: '86400' } },
            run: ({ overlap }) =>
              call('POST /organizations/{organization}/keys/{key}/regenerate', {
                params: { ...params, key },
                body: { overlap_seconds: Number(overlap) },
              }),
            done: ({ key: text }) => showSecret('Key regenerated', 'New API key', text),
          }),
        status === 'active' && {
          label: 'Revoke',
          icon: 'trash',
          danger: true,
          title: `Revoke ${name}?`,
          submit: 'Revoke key',
          text: 'All requests with this key are refused within a second. This can’t be undone.',
          run: () => call('POST /organizations/{organization}/keys/{key}/revoke', { params: { ...params, key } }),
          done: 'Key revoked',
        },
      ]}
      empty={[
        'key',
        'No API keys',
        <p key="text">
          Your backend requests attestations with an attestation key in the <code>x-api-key</code> header.
        </p>,
      ]}
    />
  )
}
