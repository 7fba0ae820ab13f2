import type { Project } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { navigate, useSearchParam } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { Copyable } from '../ui/copy.tsx'
import { Badge } from '../ui/parts.tsx'
import { ResourcePage } from '../ui/resource.tsx'
import { time } from '../ui/table.tsx'
import { usePolicies } from './policies.ts'
import { createProject } from './project-form.tsx'

export const Projects = () => {
  const { params, may, path } = useWorkplace()
  const [policy] = useSearchParam('policy')
  const policies = usePolicies()
  return (
    <ResourcePage<Project>
      title="Projects"
      lead="A project connects contracts and programs to the policy that decides their requests. They store the project’s verification hash on chain."
      pages={useList('GET /organizations/{organization}/projects', { params })}
      rowKey={({ id }) => id}
      href={({ id }) => path(`/projects/${id}`)}
      columns={{
        Name: ({ name }) => name,
        Policy: ({ policy_id: id, policy_active: active }) => (
          <>
            {policies.nameOf(id)} {!active && <Badge tone="warn">Not live: requests are refused</Badge>}
          </>
        ),
        'Verification hash': ({ verification_hash: hash }) => <Copyable text={hash} label="verification hash" short />,
        Lifetime: { narrow: true, cell: ({ lifetime_seconds: seconds }) => `${seconds} s` },
        Created: time('created_at'),
      }}
      mayChange={may('organization-admin')}
      create={createProject({ params, policies }, policy, ({ id }) => navigate(path(`/projects/${id}`)))}
      empty={[
        'project',
        'No projects',
        'Create one for each product that requests attestations. It gets a verification hash for your contracts and a policy that decides which wallets pass.',
      ]}
    />
  )
}
