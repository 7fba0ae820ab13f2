// Who may review: for names in place of account ids, and for giving a session to someone.
import { call } from '../api/client.ts'
import { readAll } from '../data/use-pages.ts'
import { useQuery } from '../data/use-query.ts'
import { useSession, useWorkplace } from '../shell/session.ts'

export interface Reviewer {
  readonly id: string
  readonly name: string
}

/** One's own user id: the session names it as the audit log does. */
export const useOwnId = (): string => useSession().account.id.replace(/^user:/, '')

export interface Reviewers {
  /** Oneself first. */
  readonly all: readonly Reviewer[]
  /** `you` for oneself; the id where the account is not a member. */
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
