import { call } from '../api/client.ts'
import type { Approval, Policy, Revision } from '../api/types.ts'
import { type Pages, usePages } from '../data/use-pages.ts'
import { type Query, useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { useWaitingChanged } from '../shell/waiting.ts'

export interface PolicyData {
  readonly policy: Query<Policy>
  readonly revisions: Pages<Revision>
  readonly waiting: readonly Approval[]
  /** Must be called after the active or shadow revision changes. */
  readonly reload: () => void
}

export const usePolicy = (id: string): PolicyData => {
  const { params } = useWorkplace()
  const path = { ...params, policy: id }
  const policy = useRead('GET /organizations/{organization}/policies/{policy}', { params: path })
  const revisions = usePages(
    (cursor, signal) =>
      call('GET /organizations/{organization}/policies/{policy}/revisions', {
        params: path,
        query: { limit: 50, cursor },
        signal,
      }),
    [params.organization, id],
  )
  const approvals = useRead('GET /organizations/{organization}/approvals', {
    params,
    query: { state: 'pending' as const, limit: 100 },
  })
  useWaitingChanged(approvals.reload)
  return {
    policy,
    revisions,
    waiting: (approvals.value?.data ?? []).filter(({ subject }) => subject === id),
    reload: () => {
      policy.reload()
      revisions.reload()
      approvals.reload()
    },
  }
}

export const revisionName = (revisions: readonly Revision[] | null, id: string | null): string => {
  const number = revisions?.find((revision) => revision.id === id)?.number
  return number === undefined ? 'an older revision' : `revision ${number}`
}
