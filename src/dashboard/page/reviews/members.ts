import { call } from '../api/client.ts'
import { readAll } from '../data/use-pages.ts'
import { useQuery } from '../data/use-query.ts'
import { useSession, useWorkplace } from '../shell/session.ts'

/** Returns the user id as sessions contain it, without the audit log's prefix. */
export const useOwnId = (): string => useSession().account.id.replace(/^user:/, '')

export interface Reviewers {
  /** The user's own account comes first. */
  readonly all: readonly { readonly id: string; readonly name: string }[]
  /** Returns `you` for the user's own account, and the id if the account isn't a member. */
  readonly nameOf: (id: string) => string
}

export const useReviewers = (): Reviewers => {
  const { params } = useWorkplace()
  const { account } = useSession()
  const ownId = useOwnId()
  const { value } = useQuery(
    (signal) =>
      readAll((cursor) =>
        call('GET /organizations/{organization}/members', { params, query: { limit: 200, cursor }, signal }),
      ),
    [params.organization],
  )
  const others = (value ?? [])
    .filter(({ user_id: id, role, disabled, invited }) => id !== ownId && role !== 'viewer' && !disabled && !invited)
    .map(({ user_id: id, name, email }) => ({ id, name: name === '' ? email : name }))
  const known = new Map((value ?? []).map(({ user_id: id, name, email }) => [id, name === '' ? email : name]))
  return {
    all: [{ id: ownId, name: `${account.name} (you)` }, ...others],
    nameOf: (id) => (id === ownId ? 'you' : (known.get(id) ?? id)),
  }
}
