// What sources would answer on a trial: JSON that whoever tries a policy may change, begun with everything that the policy
// asks for.
import type { CheckedPolicy } from '../api/types.ts'

const GEOGRAPHY = {
  ...{ country: 'US', region: null, anonymous: false },
  ...{ vpn: false, proxy: false, tor: false, hosting: false },
}
const IDENTITY = { verified: true, type: 'individual', level: 2, verifiedAtSeconds: 1_760_000_000 }
const SCREENER = { flagged: false, score: 0, categories: [] }
const DAY_SECONDS = 86_400

type Need = Readonly<Record<string, unknown>>
type Part = Readonly<Record<string, unknown>>

const partOf = (need: Need): Part => {
  switch (need['kind']) {
    case 'geography':
      return { geography: GEOGRAPHY }
    case 'identity':
      return { identity: IDENTITY }
    case 'on-behalf-identity':
      return { onBehalfIdentity: IDENTITY }
    case 'screener':
      return { screeners: { [`${need['onBehalf'] === true ? 'onBehalf.' : ''}${String(need['screener'])}`]: SCREENER } }
    case 'read':
      return { reads: { [String(need['read'])]: '0' } }
    case 'velocity':
      return { velocity: { [String(need['windowSeconds'] ?? DAY_SECONDS)]: { count: 0, value: '0' } } }
    case 'list':
      return { lists: { [String(need['list'])]: { addresses: [], age_seconds: 0 } } }
    default:
      return {}
  }
}

/** An answer for each source that the policy asks; empty where it asks none. */
export const exampleFacts = ({ needs }: CheckedPolicy): string => {
  const all: Record<string, unknown> = {}
  for (const need of needs)
    for (const [name, value] of Object.entries(partOf(need)))
      all[name] = { ...(all[name] as object | undefined), ...(value as object) }
  return Object.keys(all).length === 0 ? '' : JSON.stringify(all, null, 2)
}

interface GivenFacts {
  readonly facts?: Readonly<Record<string, unknown>>
  readonly lists?: Readonly<Record<string, { readonly addresses: readonly string[]; readonly age_seconds: number }>>
}

/** Null for text that is not a JSON object. */
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
