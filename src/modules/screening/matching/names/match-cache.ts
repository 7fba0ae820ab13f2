// Caches similar words, because given names recur.
import { LRUCache } from 'lru-cache'
import type { WordMatch } from './name-index.ts'
import type { NameWord } from './read-name.ts'

const CACHED_WORDS_MAX = 2_048

/** Objects would take ten times the memory. */
interface PackedMatches {
  readonly words: Uint32Array
  readonly similarities: Float32Array
  /** -1 for no distance. */
  readonly distances: Int8Array
}

const packMatches = (matches: readonly WordMatch[]): PackedMatches => ({
  words: Uint32Array.from(matches, ({ word }) => word),
  similarities: Float32Array.from(matches, ({ similarity }) => similarity),
  distances: Int8Array.from(matches, ({ distance }) => distance ?? -1),
})

const unpackMatches = ({ words, similarities, distances }: PackedMatches): readonly WordMatch[] =>
  Array.from(words, (word, at) => {
    const distance = distances[at]!
    return { word, similarity: similarities[at]!, distance: distance === -1 ? null : distance }
  })

const keyOf = ({ written, skeletons, isExact }: NameWord): string => {
  const [skeleton] = skeletons
  const reading = skeleton === undefined ? '' : [skeletons.length, skeleton.consonants, skeleton.gaps?.join()].join(' ')
  return `${isExact ? '=' : ''}${written} ${reading}`
}

type Search = (word: NameWord, thorough: boolean) => readonly WordMatch[]

/** Excludes words with several spellings, which would all be part of the key. */
export const createMatchCache = (search: Search): Search => {
  const matches = () => new LRUCache<string, PackedMatches>({ max: CACHED_WORDS_MAX })
  const [thoroughMatches, otherMatches] = [matches(), matches()]
  return (word, thorough) => {
    if (word.spellings.length > 0) return search(word, thorough)
    const cache = thorough ? thoroughMatches : otherMatches
    const key = keyOf(word)
    const known = cache.get(key)
    if (known !== undefined) return unpackMatches(known)
    const found = search(word, thorough)
    cache.set(key, packMatches(found))
    return found
  }
}
