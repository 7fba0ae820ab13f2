import { call } from '../api/client.ts'
import type { Policy } from '../api/types.ts'
import { readAll } from '../data/use-pages.ts'
import { useQuery } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'

export interface Policies {
  readonly ofRequests: readonly Policy[] | null
  readonly ofSessions: readonly Policy[] | null
  /** Returns the policy's name, or its id if the policy is unknown. */
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
