// The organization's policies, for choices and names.
import { call } from '../api/client.ts'
import type { Policy } from '../api/types.ts'
import { readAll } from '../data/use-pages.ts'
import { useQuery } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'

export interface Policies {
  /** Those that a project may take: null until they were read. */
  readonly ofRequests: readonly Policy[] | null
  /** Those that may decide sessions: null until they were read. */
  readonly ofSessions: readonly Policy[] | null
  /** The id where the policy is not known. */
  readonly nameOf: (id: string) => string
}

export const usePolicies = (): Policies => {
  const { params } = useWorkplace()
  const { value } = useQuery(
    (signal) =>
      readAll((cursor) =>
        call('GET /organizations/{organization}/policies', { params, query: { limit: 200, cursor }, signal }),
      ),
    [params.organization],
  )
  const of = (subject: Policy['decides']) => value?.filter(({ decides }) => decides === subject) ?? null
  return {
    ofRequests: of('requests'),
    ofSessions: of('sessions'),
    nameOf: (id) => value?.find((policy) => policy.id === id)?.name ?? id,
  }
}
