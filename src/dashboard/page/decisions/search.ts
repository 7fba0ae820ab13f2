// Filters of the decision search, kept in the URL so that a search can be shared.
import { useContext } from 'preact/hooks'
import type { QueryOf } from '../api/client.ts'
import { navigate, PlaceContext } from '../router.ts'

const FILTER_NAMES = ['wallet', 'verdict', 'project', 'policy', 'rule', 'chain', 'last', 'since', 'until'] as const
type FilterName = (typeof FILTER_NAMES)[number]
type DecisionFilters = Readonly<Record<FilterName, string>>
type SearchQuery = QueryOf<'GET /organizations/{organization}/decisions/count'>

const filtersOf = (search: string): DecisionFilters => {
  const parameters = new URLSearchParams(search)
  const entries = FILTER_NAMES.map((name) => [name, parameters.get(name) ?? ''] as const)
  return Object.fromEntries(entries) as unknown as DecisionFilters
}

export const searchOf = (filters: Partial<DecisionFilters>): string => {
  const parameters = new URLSearchParams()
  for (const name of FILTER_NAMES) if ((filters[name] ?? '') !== '') parameters.set(name, filters[name] ?? '')
  return parameters.size === 0 ? '' : `?${parameters}`
}

export const useSearch = () => {
  const { path, search } = useContext(PlaceContext)
  const filters = filtersOf(search)
  const go = (next: Partial<DecisionFilters>): void => navigate(path + searchOf(next), { replace: true })
  return {
    filters,
    narrowed: searchOf(filters) !== '',
    change: (changes: Partial<DecisionFilters>) => go({ ...filters, ...changes }),
    clear: () => go({}),
  }
}

export type SearchInAddress = ReturnType<typeof useSearch>

const MINUTE_MS = 60_000

/** Converts `2027-01-31T12:00` of a field in the browser's time zone to UTC; undefined for other text. */
const utcOf = (local: string): string | undefined => {
  const milliseconds = local === '' ? Number.NaN : Date.parse(local)
  return Number.isNaN(milliseconds) ? undefined : new Date(milliseconds).toISOString()
}

export const queryOf = (filters: DecisionFilters, nowMs: number): SearchQuery => {
  const { wallet, verdict, project, policy, rule, chain, last, since, until } = filters
  const minutes = Number(last)
  const given = (text: string): string | undefined => (text === '' ? undefined : text)
  return {
    wallet: given(wallet),
    verdict: verdict === 'compliant' || verdict === 'denied' ? verdict : undefined,
    project_id: given(project),
    policy_id: given(policy),
    rule: given(rule),
    chain: given(chain),
    since: minutes > 0 ? new Date(nowMs - minutes * MINUTE_MS).toISOString() : utcOf(since),
    until: minutes > 0 ? undefined : utcOf(until),
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
export const isUuid = (text: string): boolean => UUID.test(text)
