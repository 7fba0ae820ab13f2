// Describes the facts that a policy needs in addition to the request, with examples.
import { sourceOf } from '../../policy/sources/all.ts'
import { type FactNeed, screenerKey } from '../../policy/types/needs.ts'

const SCREENED = { flagged: false, score: 0, categories: [] }

export const wordsOf = (need: FactNeed): string => {
  switch (need.kind) {
    case 'list':
      return `list ${need.list}`
    case 'screener':
      return `screener ${screenerKey(need)}`
    case 'read':
      return `read ${need.read}`
    case 'velocity':
      return 'recent decisions of the wallet'
    default:
      return sourceOf(need.kind).words
  }
}

/** Returns examples in the format of a simulation's facts or lists. */
const exampleOf = (need: FactNeed): Readonly<Record<string, unknown>> => {
  switch (need.kind) {
    case 'list':
      return { lists: { [need.list]: { addresses: [], age_seconds: 0 } } }
    case 'screener':
      return { screeners: { [screenerKey(need)]: SCREENED } }
    case 'read':
      return { reads: { [need.read]: '0' } }
    case 'velocity':
      return { velocity: { [need.windowSeconds]: { count: 0, value: '0' } } }
    default: {
      const { part, example } = sourceOf(need.kind)
      return { [part]: example }
    }
  }
}

export const exampleFactsOf = (needs: readonly FactNeed[]): Record<string, unknown> => {
  const all: Record<string, unknown> = {}
  for (const need of needs)
    for (const [part, example] of Object.entries(exampleOf(need)))
      all[part] = { ...(all[part] as object | undefined), ...(example as object) }
  return all
}
