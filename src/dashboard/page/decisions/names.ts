import { call } from '../api/client.ts'
import { readAll } from '../data/use-pages.ts'
import { useQuery } from '../data/use-query.ts'
import { usePolicies } from '../projects/policies.ts'
import { useWorkplace } from '../shell/session.ts'
import type { Choice } from '../ui/field.tsx'

export interface Names {
  readonly projects: readonly Choice[]
  readonly policies: readonly Choice[]
  readonly projectName: (id: string) => string
  /** Id of the first project; null if there is none or they aren't loaded. */
  readonly firstProject: string | null
  readonly known: boolean
}

export const useNames = (): Names => {
  const { params } = useWorkplace()
  const policies = usePolicies()
  const { value } = useQuery(
    (signal) =>
      readAll((cursor) =>
        call('GET /organizations/{organization}/projects', { params, query: { limit: 200, cursor }, signal }),
      ),
    [params.organization],
  )
  const all = { value: '', label: 'All' }
  const names = new Map((value ?? []).map(({ id, name }) => [id, name]))
  return {
    projects: [all, ...(value ?? []).map(({ id, name }) => ({ value: id, label: name }))],
    policies: [all, ...(policies.ofRequests ?? []).map(({ id, name }) => ({ value: id, label: name }))],
    projectName: (id) => names.get(id) ?? id,
    firstProject: value?.[0]?.id ?? null,
    known: value !== null,
  }
}
