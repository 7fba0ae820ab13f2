// Collects the needs of rules. Each source occurs once, in an order independent of the rules.
import { FACT_SOURCES } from './sources/all.ts'
import { type FactNeed, type ListNeed, screenerKey } from './types/needs.ts'

const ORDER: readonly FactNeed['kind'][] = [
  'list',
  ...FACT_SOURCES.map(({ kind }) => kind),
  'screener',
  'read',
  'velocity',
]

const nameOf = (need: FactNeed): string => {
  switch (need.kind) {
    case 'list':
      return need.list
    case 'screener':
      return screenerKey(need)
    case 'read':
      return need.read
    case 'velocity':
      return String(need.windowSeconds)
    default:
      return ''
  }
}

/** Returns a key that is equal if one answer satisfies both needs. */
export const keyOfNeed = (need: FactNeed): string => JSON.stringify(need)

const leastAge = (left: number | null, right: number | null): number | null => {
  if (left === null || right === null) return left ?? right
  return Math.min(left, right)
}

/** Shared: with an array per policy, each request would read an array from main memory. */
export const NO_NEEDS: readonly FactNeed[] = Object.freeze([])

export const createNeeds = () => {
  const kinds = new Map<FactNeed['kind'], Map<string, FactNeed>>()
  return {
    add: (need: FactNeed) => {
      const known = kinds.get(need.kind) ?? new Map<string, FactNeed>()
      kinds.set(need.kind, known)
      const key = nameOf(need)
      const same = known.get(key)
      const demanded = need.kind === 'list' && same !== undefined ? (same as ListNeed).maxAgeSeconds : null
      known.set(key, need.kind === 'list' ? { ...need, maxAgeSeconds: leastAge(need.maxAgeSeconds, demanded) } : need)
    },
    count: (kind: FactNeed['kind']): number => kinds.get(kind)?.size ?? 0,
    all: (): readonly FactNeed[] => {
      if (kinds.size === 0) return NO_NEEDS
      return ORDER.flatMap((kind) => {
        const needs = [...(kinds.get(kind)?.entries() ?? [])]
        return needs.sort(([left], [right]) => (left < right ? -1 : 1)).map(([, need]) => need)
      })
    },
  }
}

export type Needs = ReturnType<typeof createNeeds>
