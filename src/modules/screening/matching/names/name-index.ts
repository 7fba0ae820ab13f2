// Finds similar names without a full scan: distinct words in written and folded form, and the names that contain each.
import { LRUCache } from 'lru-cache'
import { below, bytesIn, type FlatArrays, wordsIn } from '../../../../lib/flat-arrays.ts'
import { likenessOf, skeletonOf } from './consonants.ts'
import { createDivider } from './divide-words.ts'
import type { NameWord, WordRole } from './read-name.ts'
import { openWordTable } from './word-table.ts'

export interface WordMatch {
  readonly word: number
  /** 1 for the same spelling. */
  readonly similarity: number
  /** Edit distance of the written forms; null for words with the same sound or consonants. */
  readonly distance: number | null
}

// A word as a number: its index in the lower bits, its role in the upper bits.
const ROLES: readonly WordRole[] = ['name', 'initial', 'particle', 'title', 'form', 'common']
const ROLE_SHIFT = 24
const WORD_MASK = 2 ** ROLE_SHIFT - 1

export const roleAt = (packed: number): WordRole => ROLES[packed >>> ROLE_SHIFT] ?? 'name'
/** Returns whether the role barely identifies a person. */
export const isSmall = (role: WordRole): boolean => role === 'particle' || role === 'title'
export const wordAt = (packed: number): number => packed & WORD_MASK
export const packWord = (role: WordRole, word: number): number => (ROLES.indexOf(role) << ROLE_SHIFT) | word

const NONE_TOLERATED = (): number => 0
/** Returns the maximum edit distance, by length of the written word. */
const TOLERATED_KEYS = (length: number): number => (length <= 1 ? 0 : length <= 4 ? 1 : length <= 9 ? 2 : 3)
/** Returns the maximum edit distance of folded words, which are already more similar. */
const TOLERATED_SOUNDS = (length: number): number => (length <= 4 ? 0 : length <= 7 ? 1 : 2)
/** Returns the maximum edit distance of joins, which are many and must match almost exactly. */
const TOLERATED_IN_JOINS = (length: number): number => Math.min(2, Math.floor(length * 0.22))
/** Similarity of words with the same sound but different spellings. */
const FOLDED_SIMILARITY = 0.97
const editSimilarity = (distance: number, length: number): number => 1 - (distance * 0.9) / length

const openWords = (arrays: FlatArrays) => {
  const [starts, members] = [wordsIn(arrays, 'groupStarts'), wordsIn(arrays, 'groupMembers')]
  const table = openWordTable(arrays)
  const each = (row: number, visit: (word: number) => void): void => {
    for (let at = starts[row]!; at < starts[row + 1]!; at++) visit(members[at]!)
  }
  return {
    table,
    each,
    /** Visits the words with this text. */
    spelled: (text: string, visit: (word: number) => void): void => {
      const row = table.find(text)
      if (row !== -1) each(row, visit)
    },
    first: (row: number): number => (row === -1 ? -1 : (members[starts[row]!] ?? -1)),
  }
}
type Words = ReturnType<typeof openWords>

const JOIN_LENGTH_MIN = 5
const CACHED_WORDS_MAX = 512

export const openNameIndex = (arrays: FlatArrays) => {
  const written = openWords(below('written', arrays))
  const folded = openWords(below('folded', arrays))
  const joinsWritten = openWords(below('joinsWritten', arrays))
  const joinsFolded = openWords(below('joinsFolded', arrays))
  const skeletons = openWords(below('skeletons', arrays))
  const flags = bytesIn(arrays, 'flags')
  const [rows, sounds] = [wordsIn(arrays, 'rows'), wordsIn(arrays, 'sounds')]
  const frequencies = wordsIn(arrays, 'frequencies')
  const [postingStarts, postings] = [wordsIn(arrays, 'postingStarts'), wordsIn(arrays, 'postings')]
  const [nameWords, nameStarts, entryOf] = [
    wordsIn(arrays, 'nameWords'),
    wordsIn(arrays, 'nameStarts'),
    wordsIn(arrays, 'entries'),
  ]
  const hasAbjad = flags.some((flag) => (flag & 2) !== 0)
  const tableOf = (word: number) => ((flags[word]! & 1) === 0 ? written : joinsWritten).table

  const textOf = (word: number): string => tableOf(word).textOf(rows[word]!)

  /** @param thorough also finds words with the same sound or consonants, and joins */
  const scan = (
    { written: text, folded: sound, skeletons: readings, spellings, isExact }: NameWord,
    thorough: boolean,
  ): readonly WordMatch[] => {
    const best = new Map<number, WordMatch>()
    const offer = (word: number, similarity: number, distance: number | null): void => {
      if ((best.get(word)?.similarity ?? 0) < similarity) best.set(word, { word, similarity, distance })
    }
    const letters = (words: Words, tolerated: (length: number) => number): void =>
      words.table.near(text, tolerated, (row, distance, length) => {
        const similarity = distance === 0 ? 1 : editSimilarity(distance, length)
        words.each(row, (word) => offer(word, similarity, distance))
      })
    const sounds = (words: Words, tolerated: (length: number) => number): void =>
      words.table.near(sound, tolerated, (row, distance, length) => {
        const similarity = FOLDED_SIMILARITY * (distance === 0 ? 1 : editSimilarity(distance, length))
        words.each(row, (word) => offer(word, similarity, null))
      })
    const isAbjad = (word: number): boolean => (flags[word]! & 2) !== 0
    for (const spelling of spellings) {
      for (const words of [written, joinsWritten]) {
        words.spelled(spelling, (word) => offer(word, spelling === text ? 1 : FOLDED_SIMILARITY, null))
      }
    }
    for (const reading of readings) {
      skeletons.spelled(reading.consonants, (word) => {
        const other = textOf(word)
        const isSame = isAbjad(word) && other === text
        offer(word, isSame ? 1 : likenessOf(reading, isAbjad(word) ? null : skeletonOf(other)), null)
      })
    }
    if (spellings.length + readings.length === 0) {
      letters(written, isExact ? NONE_TOLERATED : thorough ? TOLERATED_KEYS : TOLERATED_IN_JOINS)
      sounds(folded, isExact || !thorough ? NONE_TOLERATED : TOLERATED_SOUNDS)
      if (thorough && text.length >= JOIN_LENGTH_MIN) {
        letters(joinsWritten, isExact ? NONE_TOLERATED : TOLERATED_IN_JOINS)
        sounds(joinsFolded, NONE_TOLERATED)
      }
      if (thorough && hasAbjad) {
        const skeleton = skeletonOf(text)
        skeletons.spelled(skeleton.consonants, (word) => {
          if (isAbjad(word)) offer(word, likenessOf(skeleton, null), null)
        })
      }
    }
    return [...best.values()].sort((left, right) => right.similarity - left.similarity)
  }

  /**
   * Caches matches, because given names recur. Excludes words with several spellings, which would all be part of the
   * key.
   */
  const cache = new LRUCache<string, readonly WordMatch[]>({ max: CACHED_WORDS_MAX })
  const search = (word: NameWord, thorough: boolean): readonly WordMatch[] => {
    if (word.spellings.length > 0) return scan(word, thorough)
    const key = JSON.stringify([thorough, word.written, word.skeletons, word.isExact])
    const found = cache.get(key) ?? scan(word, thorough)
    cache.set(key, found)
    return found
  }

  const namesWith = (word: number): Uint32Array => postings.subarray(postingStarts[word]!, postingStarts[word + 1]!)
  const wordsOf = (name: number): Uint32Array => nameWords.subarray(nameStarts[name]!, nameStarts[name + 1]!)

  return {
    names: entryOf.length,
    resembling: (word: NameWord): readonly WordMatch[] => search(word, true),
    /** Returns the single words that may match two joined words. */
    resemblingJoin: (word: NameWord): readonly WordMatch[] =>
      word.written.length < JOIN_LENGTH_MIN ? [] : search(word, false),
    nearness: (word: number, text: string): { readonly similarity: number; readonly distance: number } => {
      const table = tableOf(word)
      const distance = table.distance(rows[word]!, text)
      return { distance, similarity: editSimilarity(distance, Math.max(text.length, table.lengthOf(rows[word]!))) }
    },
    find: (text: string): number => written.first(written.table.find(text)),
    namesWith,
    isJoin: (word: number): boolean => (flags[word]! & 1) !== 0,
    /** Returns the number of names with a word of the same folded form. */
    frequency: (word: number): number => frequencies[word]!,
    textOf,
    firstByte: (word: number): number => tableOf(word).firstByte(rows[word]!),
    wordsOf,
    entryOf: (name: number): number => entryOf[name]!,
    /** Divides joined words and joins split words. */
    divide: createDivider({
      words: written.table,
      names: entryOf.length,
      soundingLike: (row, visit) => folded.each(sounds[written.first(row)]!, visit),
      namesWith,
      tellingWords: (name) =>
        Array.from(wordsOf(name)).flatMap((packed) => (isSmall(roleAt(packed)) ? [] : [wordAt(packed)])),
    }),
  }
}

export type NameIndex = ReturnType<typeof openNameIndex>
