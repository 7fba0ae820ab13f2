import { counted } from '../../../lib/counted.ts'
import { useRead } from '../data/use-query.ts'
import type { PageProps } from '../pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { ActionButton } from '../ui/actions.tsx'
import { Copyable } from '../ui/copy.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Card, Facts, Loading, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { Bindings } from './bindings.tsx'
import { usePolicies } from './policies.ts'
import { editProject } from './project-form.tsx'

const TryIt = lazy(async () => (await import('../attest/try-it.tsx')).TryIt)

export const ProjectPage = ({ params: { project: id = '' } }: PageProps) => {
  const { params, may, path } = useWorkplace()
  const policies = usePolicies()
  const project = useRead('GET /organizations/{organization}/projects/{project}', {
    params: { ...params, project: id },
  })
  const crumbs = [{ label: 'Projects', href: path('/projects') }]
  const { value } = project
  if (value === null) {
    return (
      <Page title="Project" crumbs={crumbs}>
        {project.error === null ? <Loading /> : <Problem error={project.error} retry={project.reload} />}
      </Page>
    )
  }
  return (
    <Page
      title={value.name}
      crumbs={crumbs}
      actions={
        may('organization-admin') && (
          <ActionButton action={editProject({ params, policies }, value)} onDone={project.reload} />
        )
      }
    >
      {!value.policy_active && (
        <Notice tone="warn" title="All requests are refused">
          <p>
            The project’s policy has no live revision. Open{' '}
            <a href={path(`/policies/${value.policy_id}`)}>the policy</a> and make a revision live.
          </p>
        </Notice>
      )}
      <Card>
        <Facts
          items={[
            ['Verification hash', <Copyable key="hash" text={value.verification_hash} label="verification hash" />],
            [
              'Policy',
              <a key="policy" href={path(`/policies/${value.policy_id}`)}>
                {policies.nameOf(value.policy_id)}
              </a>,
            ],
            ['Attestation lifetime', counted(value.lifetime_seconds, 'second', 'seconds')],
            ['Created', <Time key="created" at={value.created_at} full />],
          ]}
        />
      </Card>
      <Card title="Try it" text="Request an attestation for any wallet with this project’s policy.">
        <TryIt project={value.id} />
      </Card>
      <Bindings project={value} />
    </Page>
  )
}
