// What decides: the organization's policies, whether each is live, and which projects it decides for.
import { call } from '../api/client.ts'
import type { Policy, Project } from '../api/types.ts'
import { readAll, useList } from '../data/use-pages.ts'
import { useQuery } from '../data/use-query.ts'
import { navigate } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Badge, Card, Empty, Page } from '../ui/parts.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'

const NAMES_SHOWN = 3

const usedBy = (projects: readonly Project[] | null, { id, decides }: Policy): string => {
  if (decides === 'sessions') return 'sessions'
  if (projects === null) return ''
  const names = projects.filter(({ policy_id: policy }) => policy === id).map(({ name }) => name)
  if (names.length === 0) return 'no project yet'
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
  useShortcut('c', 'Write a policy', () => {
    if (mayChange) navigate(path('/policies/new'))
  })
  return (
    <Page
      title="Policies"
      lead="A policy says which wallets may do what, and why not. It is written as rules, tried out, and then made live for the projects that name it."
      actions={
        mayChange && (
          <ButtonLink kind="primary" icon="plus" href={path('/policies/new')}>
            Write a policy
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
            State: ({ active_revision_id: active, shadow_revision_id: shadow }) => (
              <>
                {active === null ? <Badge tone="warn">Not live</Badge> : <Badge tone="good">Live</Badge>}{' '}
                {shadow !== null && <Badge tone="info">Shadow</Badge>}
              </>
            ),
            'Decides for': (policy) => usedBy(projects.value, policy),
            Revisions: { narrow: true, cell: ({ revisions }) => revisions },
            Made: { narrow: true, cell: ({ created_at: at }) => <Time at={at} /> },
          }}
          empty={
            <Empty
              icon="scale"
              title="No policies yet"
              actions={mayChange && <ButtonLink href={path('/policies/new')}>Write the first policy</ButtonLink>}
            >
              <p>
                Begin with a template: an allow list, sanctions and geography, verified identities, limits on value.
                Nothing is decided by it until you make it live.
              </p>
            </Empty>
          }
        />
      </Card>
    </Page>
  )
}
