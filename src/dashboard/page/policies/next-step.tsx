// Next step after a policy is active: a project that uses it, and its first call.
import { call } from '../api/client.ts'
import { useQuery } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { MAKE } from '../shell/use-make.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Notice } from '../ui/problem.tsx'

const SHOWN = 5

export const NextStep = ({ policyId }: { readonly policyId: string }) => {
  const { params, path, may } = useWorkplace()
  const { value } = useQuery(
    (signal) =>
      call('GET /organizations/{organization}/projects', {
        params,
        signal,
        query: { policy_id: policyId, limit: SHOWN },
      }),
    [params.organization, policyId],
  )
  if (value === null) return null
  if (value.data.length > 0) {
    return (
      <p class="soft">
        Decides for{' '}
        {value.data.map(({ id, name }, index) => (
          <span key={id}>
            {index > 0 && ', '}
            <a href={path(`/projects/${id}`)}>{name}</a>
          </span>
        ))}
        {value.next_cursor !== null && ' and others'}.
      </p>
    )
  }
  if (!may('organization-admin')) return null
  return (
    <Notice
      tone="info"
      title="Next: create a project"
      actions={
        <ButtonLink kind="primary" small href={path(`/projects${MAKE}&policy=${policyId}`)}>
          Create project
        </ButtonLink>
      }
    >
      <p>
        The policy is live, but no project uses it. A project provides the verification hash for requests and contracts.
      </p>
    </Notice>
  )
}
