// What the organization attests for: each project has a policy that decides, and a hash that its contracts carry.
import { useState } from 'preact/hooks'
import type { Project } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { navigate } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { useMake } from '../shell/use-make.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Badge, Card, Empty, Page } from '../ui/parts.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { usePolicies } from './policies.ts'
import { CreateProject } from './project-form.tsx'

export const Projects = () => {
  const { params, may, path } = useWorkplace()
  const [creating, setCreating] = useState(false)
  const mayChange = may('organization-admin')
  const policies = usePolicies()
  const pages = useList('GET /organizations/{organization}/projects', { params })
  useMake('Make a project', () => {
    if (mayChange) setCreating(true)
  })
  return (
    <Page
      title="Projects"
      lead="A project ties contracts and programs to the policy that decides for them. Its verification hash is what they carry on chain, and what a call may name."
      actions={
        mayChange && (
          <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
            Make a project
          </Button>
        )
      }
    >
      <Card flush>
        <PagedTable<Project>
          caption="Projects"
          pages={pages}
          rowKey={({ id }) => id}
          href={({ id }) => path(`/projects/${id}`)}
          columns={{
            Name: ({ name }) => name,
            Policy: ({ policy_id: id, policy_active: active }) => (
              <>
                {policies.nameOf(id)} {!active && <Badge tone="warn">Not live: requests are refused</Badge>}
              </>
            ),
            'Verification hash': ({ verification_hash: hash }) => (
              <Copyable text={hash} label="verification hash" short />
            ),
            'Valid for': { narrow: true, cell: ({ lifetime_seconds: seconds }) => `${seconds} s` },
            Made: { narrow: true, cell: ({ created_at: at }) => <Time at={at} /> },
          }}
          empty={
            <Empty
              icon="project"
              title="No projects yet"
              actions={mayChange && <Button onClick={() => setCreating(true)}>Make the first project</Button>}
            >
              <p>
                Make one for each product that asks for attestations. It gets a verification hash for your contracts;
                which wallets pass is decided by its policy, which you can change at any time.
              </p>
            </Empty>
          }
        />
      </Card>
      {creating && (
        <CreateProject
          policies={policies}
          onClose={() => setCreating(false)}
          onCreated={({ id }) => navigate(path(`/projects/${id}`))}
        />
      )}
    </Page>
  )
}
