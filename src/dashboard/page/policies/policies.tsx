import { call } from '../api/client.ts'
import type { Policy, Project } from '../api/types.ts'
import { readAll, useList } from '../data/use-pages.ts'
import { useQuery } from '../data/use-query.ts'
import { navigate } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Badge, Card, Empty, Page } from '../ui/parts.tsx'
import { PagedTable, time } from '../ui/table.tsx'

const NAMES_SHOWN = 3

const usedBy = (projects: readonly Project[] | null, { id, decides }: Policy): string => {
  if (decides === 'sessions') return 'Sessions'
  if (projects === null) return ''
  const names = projects.filter(({ policy_id: policy }) => policy === id).map(({ name }) => name)
  if (names.length === 0) return 'No projects'
  const rest = names.length - NAMES_SHOWN
  return names.slice(0, NAMES_SHOWN).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

export const Policies = () => {
  const { params, may, path } = useWorkplace()
  const mayChange = may('organization-admin')
  const pages = useList('GET /organizations/{organization}/policies', { params })
  const projects = useQuery(
    (signal) =>
      readAll((cursor) =>
        call('GET /organizations/{organization}/projects', { params, query: { limit: 200, cursor }, signal }),
      ),
    [params.organization],
  )
  useShortcut('c', 'Create policy', mayChange ? () => navigate(path('/policies/new')) : null)
  return (
    <Page
      title="Policies"
      lead="Policies decide requests and identity sessions. Write rules, test them, then make them live."
      actions={
        mayChange && (
          <ButtonLink kind="primary" icon="plus" href={path('/policies/new')}>
            Create policy
          </ButtonLink>
        )
      }
    >
      <Card flush>
        <PagedTable<Policy>
          caption="Policies"
          pages={pages}
          rowKey={({ id }) => id}
          href={({ id }) => path(`/policies/${id}`)}
          columns={{
            Name: ({ name, decides }) => (
              <>
                {name} {decides === 'sessions' && <Badge tone="info">Decides sessions</Badge>}
              </>
            ),
            Status: ({ active_revision_id: active, shadow_revision_id: shadow }) => (
              <>
                {active === null ? <Badge tone="warn">Not live</Badge> : <Badge tone="good">Live</Badge>}{' '}
                {shadow !== null && <Badge tone="info">Shadow</Badge>}
              </>
            ),
            'Used by': (policy) => usedBy(projects.value, policy),
            Revisions: { narrow: true, cell: ({ revisions }) => revisions },
            Created: time('created_at'),
          }}
          empty={
            <Empty
              icon="scale"
              title="No policies"
              actions={mayChange && <ButtonLink href={path('/policies/new')}>Create policy</ButtonLink>}
            >
              <p>
                Start from a template, such as sanctions and geography or verified identities. A policy has no effect
                until you make it live.
              </p>
            </Empty>
          }
        />
      </Card>
    </Page>
  )
}
