// Finds similar names: collects names with shared words, then compares each.
import { compareNames, isInitialOf, type NameComparison, type QueryPart, weightOf } from './compare-names.ts'
import { joinsOf } from './joined-words.ts'
import { type NameIndex, roleAt, type WordMatch, wordAt } from './name-index.ts'
import type { NameWord, WordRole } from './read-name.ts'

export interface FoundName {
  readonly name: number
  readonly entry: number
  readonly comparison: NameComparison
}

/** Maximum number of compared names, which share the most with the query. */
const COMPARED_MAX = 200
/** Minimum shared weight, relative to the query. */
const SHARED_MIN = 0.4
/** Limits the query's weight, so that added words can't hide a listed name. */
const TOTAL_MAX = 3

/** Minimum share of the listed name with which the query may contain it completely. */
const WHOLE_SHARED_MIN = 0.95

const isSearched = (role: WordRole): boolean => role === 'name' || role === 'common'

const NONE: ReadonlyMap<number, WordMatch> = new Map()

const startsAlike = (index: NameIndex, name: number, part: QueryPart): boolean =>
  index.wordsOf(name).some((packed) => isInitialOf(index, wordAt(packed), part.word))

/** Remaining work for a name and its readings, in compared words; negative if exhausted. */
export interface WorkBudget {
  left: number
}

export const createNameFinder = (index: NameIndex) => {
  const shared = new Float32Array(index.names)
  const lastPart = new Int32Array(index.names)
  /** Weight of the searched words, by name. */
  const own = Float32Array.from({ length: index.names }, (_, name) =>
    index.wordsOf(name).reduce((sum, packed) => {
      const role = roleAt(packed)
      return isSearched(role) ? sum + weightOf(role, index.frequency(wordAt(packed))) : sum
    }, 0),
  )
  const isShared = (name: number): boolean => own[name]! > 0 && shared[name]! >= WHOLE_SHARED_MIN * own[name]!

  const partOf = (
    word: NameWord,
    mask: number,
    near: readonly WordMatch[],
  ): QueryPart & { readonly near: readonly WordMatch[] } => {
    const joins = new Map<number, WordMatch>()
    for (const match of near) {
      if (!index.isJoin(match.word)) continue
      for (const name of index.namesWith(match.word)) if (!joins.has(name)) joins.set(name, match)
    }
    const [best] = near
    const frequency = best !== undefined && best.similarity > 0.96 ? index.frequency(best.word) : 1
    return {
      word,
      mask,
      joins,
      near,
      same: index.find(word.written),
      weight: weightOf(word.role, frequency),
      matches: near.length === 0 ? NONE : new Map(near.map((match) => [match.word, match])),
    }
  }

  return {
    /**
     * Returns an empty list if the budget is exhausted. @param minimum doesn't apply to one-word names that the other
     * name contains
     */
    find: (words: readonly NameWord[], minimum: number, budget: WorkBudget): readonly FoundName[] => {
      if (budget.left < 0) return []
      const anySearched = words.some(({ role }) => isSearched(role))
      const parts = words.map((word, at) =>
        partOf(word, 1 << at, !anySearched || isSearched(word.role) ? index.resembling(word) : []),
      )
      const weights = parts.map(({ weight }) => weight)
      for (const { at, written, folded } of joinsOf(words)) {
        const word: NameWord = { written, folded, skeletons: [], spellings: [], role: 'name', isExact: false }
        const near = index.resemblingJoin(word)
        if (near.length > 0) parts.push(partOf(word, 3 << at, near))
      }
      const total = words.reduce((sum, word, at) => (isSearched(word.role) ? sum + weights[at]! : sum), 0)
      const touched: number[] = []
      for (const [number, part] of parts.entries()) {
        for (const { word, similarity } of part.near) {
          const gain = Math.min(part.weight, weightOf('name', index.frequency(word))) * similarity
          for (const name of index.namesWith(word)) {
            if (lastPart[name] === number + 1) continue
            if (shared[name] === 0) touched.push(name)
            lastPart[name] = number + 1
            shared[name] = shared[name]! + gain
          }
        }
      }
      const initials = parts.filter(({ word, mask }) => word.role === 'initial' && (mask & (mask - 1)) === 0)
      if (initials.length > 0) {
        for (const name of touched) {
          for (const part of initials) {
            if (startsAlike(index, name, part)) shared[name] = shared[name]! + part.weight
          }
        }
      }
      const sharedMin = SHARED_MIN * Math.min(total, TOTAL_MAX)
      const candidates = touched
        .filter((name) => shared[name]! >= sharedMin || isShared(name))
        .sort((left, right) => shared[right]! - shared[left]!)
        .filter((name, at) => at < COMPARED_MAX || isShared(name) || words.length === 1)
      for (const name of touched) {
        shared[name] = 0
        lastPart[name] = 0
      }
      budget.left -= touched.length + candidates.length * parts.length
      const found: FoundName[] = []
      for (const name of candidates) {
        const comparison = compareNames(index, words, weights, parts, name)
        if (comparison.similarity >= minimum || comparison.sharedOnlyWord !== null)
          found.push({ name, entry: index.entryOf(name), comparison })
      }
      return found.sort((left, right) => right.comparison.similarity - left.comparison.similarity)
    },
  }
}
