// One project: its hash, its policy, the contracts and programs that belong to it, and a first call to copy.

import { useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { TryIt } from '../attest/try-it.tsx'
import { useRead } from '../data/use-query.ts'
import type { PageProps } from '../pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Card, Facts, Loading, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { Bindings } from './bindings.tsx'
import { usePolicies } from './policies.ts'
import { ChangeProject } from './project-form.tsx'

export const ProjectPage = ({ params: { project: id = '' } }: PageProps) => {
  const { params, may, path } = useWorkplace()
  const [changing, setChanging] = useState(false)
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
      actions={may('organization-admin') && <Button onClick={() => setChanging(true)}>Change</Button>}
    >
      {!value.policy_active && (
        <Notice tone="warn" title="Every request for this project is refused">
          <p>
            Its policy has no live revision, so there is nothing to decide by. Open{' '}
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
            ['Attestations valid for', counted(value.lifetime_seconds, 'second', 'seconds')],
            ['Made', <Time key="made" at={value.created_at} full />],
          ]}
        />
      </Card>
      <Card title="Try it" text="An attestation for any wallet, decided by this project’s policy.">
        <TryIt project={value.id} />
      </Card>
      <Bindings project={value} />
      {changing && (
        <ChangeProject project={value} policies={policies} onClose={() => setChanging(false)} onChanged={project.set} />
      )}
    </Page>
  )
}
