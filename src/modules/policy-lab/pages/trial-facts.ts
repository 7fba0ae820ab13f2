// Editable JSON facts of a trial, prefilled for the sources that the policy queries.
import type { BodyOf } from '../../../dashboard/page/api/client.ts'
import type { CheckedPolicy } from '../../../dashboard/page/api/types.ts'

export const exampleFacts = ({ example_facts: facts }: CheckedPolicy): string =>
  Object.keys(facts).length === 0 ? '' : JSON.stringify(facts, null, 2)

type GivenFacts = Pick<NonNullable<BodyOf<'POST /organizations/{organization}/policies/simulate'>>, 'facts' | 'lists'>

export const parseFacts = (text: string): GivenFacts | null => {
  if (text.trim() === '') return {}
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null
    const { lists, ...facts } = parsed as Record<string, unknown>
    return {
      ...(Object.keys(facts).length === 0 ? {} : { facts }),
      ...(lists === undefined ? {} : { lists: lists as NonNullable<GivenFacts['lists']> }),
    }
  } catch {
    return null
  }
}
