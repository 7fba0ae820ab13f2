// The names of a list, indexed to find similar ones without a full scan: the distinct words in their written and folded
// forms, and the names with each word. Flat arrays hold thirty thousand names in a few megabytes.
import { below, bytesIn, type FlatArrays, prefixed, wordsIn } from '../../../../lib/flat-arrays.ts'
import { likenessOf, skeletonOf } from './consonants.ts'
import { createDivider } from './divide-words.ts'
import { foldWord, WORD_MAX } from './fold.ts'
import type { NameWord, WordRole } from './read-name.ts'
import { hashOf } from './word-hash.ts'
import { buildWordTable, openWordTable } from './word-table.ts'
import { JOINING_PARTICLES } from './words.ts'

const ROLES: readonly WordRole[] = ['name', 'initial', 'particle', 'title', 'form', 'common']
/** Indexed words are below this; the words of a name carry their role above it. */
const ROLE_SHIFT = 24
const WORD_MASK = 2 ** ROLE_SHIFT - 1

export interface WordMatch {
  readonly word: number
  /** 1: the same spelling. */
  readonly similarity: number
  /** Edit distance of the written forms; null for words with the same sound or consonants. */
  readonly distance: number | null
}

export interface NameIndex {
  readonly names: number
  readonly distinctWords: number
  /** Similar words, the most similar first, including joins of two neighbours. */
  resembling(word: NameWord): readonly WordMatch[]
  /** For two joined words: the possible single words. */
  resemblingJoin(word: NameWord): readonly WordMatch[]
  /** Similarity of any two words by their letters. */
  nearness(word: number, written: string): { readonly similarity: number; readonly distance: number }
  /** @returns -1 if no name contains it */
  find(written: string): number
  /** Names that contain the word. */
  namesWith(word: number): Uint32Array
  isJoin(word: number): boolean
  /** Number of names with a word of the same folded form. */
  frequency(word: number): number
  textOf(word: number): string
  /** Its first letter, as a byte. */
  firstByte(word: number): number
  /** A name's words in order; read them with `roleAt` and `wordAt`. */
  wordsOf(name: number): Uint32Array
  entryOf(name: number): number
  /** Divides joined words, and joins split words. */
  divide(texts: readonly string[]): readonly (readonly string[])[]
}

export const roleAt = (packed: number): WordRole => ROLES[packed >>> ROLE_SHIFT] ?? 'name'
/** Words that barely identify anybody. */
export const isSmall = (role: WordRole): boolean => role === 'particle' || role === 'title'
export const wordAt = (packed: number): number => packed & WORD_MASK

/** Second syllables of Korean given names that are particles in other names. */
const KOREAN_SECOND: ReadonlySet<string> = new Set(['il', 'an', 'do'])

/** Two neighbours that may be joined. */
export const joinsOf = (
  words: readonly NameWord[],
): readonly { readonly at: number; readonly written: string; readonly folded: string }[] => {
  const joins: { at: number; written: string; folded: string }[] = []
  for (let at = 0; at + 1 < words.length; at++) {
    const [first, second] = [words[at]!, words[at + 1]!]
    if (first.role === 'form' || second.role === 'form') continue
    if (second.role === 'particle' && !KOREAN_SECOND.has(second.written)) continue
    if (
      second.role === 'title' ||
      (first.role === 'title' && !first.written.startsWith('abd')) ||
      first.skeletons.length + first.spellings.length > 0 ||
      second.skeletons.length + second.spellings.length > 0
    )
      continue
    if (first.role === 'particle' && !JOINING_PARTICLES.has(first.written)) continue
    const written = first.written + second.written
    if (written.length > WORD_MAX) continue
    joins.push({ at, written, folded: foldWord(written) })
  }
  return joins
}

const NONE_TOLERATED = (): number => 0
/** Tolerated edit distance by length: with the same number of errors, a short word is another word. */
const TOLERATED_KEYS = (length: number): number => (length <= 1 ? 0 : length <= 4 ? 1 : length <= 9 ? 2 : 3)
/** Tolerated edit distance of folded words, which are more similar already. */
const TOLERATED_SOUNDS = (length: number): number => (length <= 4 ? 0 : length <= 7 ? 1 : 2)
/** Tolerated edit distance of joined words: there are many, so they must match almost exactly. */
const TOLERATED_IN_JOINS = (length: number): number => Math.min(2, Math.floor(length * 0.22))
/** For words with the same sound and another spelling. */
const FOLDED_SIMILARITY = 0.97
/** Similarity at an edit distance: the first error costs less than the second. */
const editSimilarity = (distance: number, length: number): number => 1 - (distance * 0.9) / length

interface WordDraft {
  readonly written: string
  readonly folded: string
  readonly skeleton: string
  /** 1: a join; 2: written without vowels. */
  readonly flags: number
  readonly names: number[]
}

/** Groups numbers by another number: `groups[starts[n]]` to `groups[starts[n + 1]]`. */
const grouped = (groupOf: Uint32Array, groups: number) => {
  const starts = new Uint32Array(groups + 1)
  for (const group of groupOf) starts[group + 1] = starts[group + 1]! + 1
  for (let group = 0; group < groups; group++) starts[group + 1] = starts[group + 1]! + starts[group]!
  const members = new Uint32Array(groupOf.length)
  const filled = starts.slice()
  for (let member = 0; member < groupOf.length; member++) members[filled[groupOf[member]!]!++] = member
  return { starts, members }
}

/** The distinct written or folded forms of some drafts, each with its drafts. */
const buildWords = (
  drafts: readonly WordDraft[],
  isOne: (draft: WordDraft) => boolean,
  textOf: (draft: WordDraft) => string,
): { readonly arrays: FlatArrays; readonly rows: ReadonlyMap<string, number> } => {
  const members = Uint32Array.from(drafts.keys()).filter((word) => isOne(drafts[word]!))
  const { arrays, numbers } = buildWordTable([...new Set(Array.from(members, (word) => textOf(drafts[word]!)))])
  const rows = Uint32Array.from(members, (word) => numbers.get(textOf(drafts[word]!)) ?? 0)
  const groups = grouped(rows, numbers.size)
  const ordered = groups.members.map((member) => members[member]!)
  return { arrays: { ...arrays, groupStarts: groups.starts, groupMembers: ordered }, rows: numbers }
}

const openWords = (arrays: FlatArrays) => {
  const [starts, members] = [wordsIn(arrays, 'groupStarts'), wordsIn(arrays, 'groupMembers')]
  return {
    table: openWordTable(arrays),
    each: (row: number, visit: (word: number) => void): void => {
      for (let at = starts[row]!; at < starts[row + 1]!; at++) visit(members[at]!)
    },
    first: (row: number): number => (row === -1 ? -1 : (members[starts[row]!] ?? -1)),
  }
}
type Words = ReturnType<typeof openWords>

export interface NameIndexBuilder {
  /** @param entry identifies the name's entry for the caller */
  add(words: readonly NameWord[], entry: number): void
  build(): FlatArrays
}

/** Given names recur often. */
const CACHED_WORDS_MAX = 2_048

/** Matches as typed arrays, because objects would take ten times the memory. */
interface PackedMatches {
  readonly words: Uint32Array
  readonly similarities: Float32Array
  /** -1: none. */
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
/** Minimum letters of two joined words. */
const JOIN_LENGTH_MIN = 5

export const createNameIndexBuilder = (): NameIndexBuilder => {
  const numbers = new Map<string, number>()
  const drafts: WordDraft[] = []
  const packed: number[] = []
  const starts: number[] = [0]
  const entries: number[] = []

  const draftOf = (written: string, folded: string, skeleton: string, flags: number): number => {
    const key = flags === 0 ? written : `${flags}${written}`
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, drafts.length)
    drafts.push({ written, folded, skeleton, flags, names: [] })
    return drafts.length - 1
  }

  return {
    add: (words, entry) => {
      const name = entries.length
      const has = (word: number): void => {
        const { names } = drafts[word]!
        if (names.at(-1) !== name) names.push(name)
      }
      for (const { written, folded, skeletons, role } of words) {
        const [skeleton] = skeletons
        const word =
          skeleton === undefined
            ? draftOf(written, folded, skeletonOf(written).consonants, 0)
            : draftOf(written, folded, skeleton.consonants, 2)
        packed.push((ROLES.indexOf(role) << ROLE_SHIFT) | word)
        has(word)
      }
      for (const { written, folded } of joinsOf(words)) has(draftOf(written, folded, '', 1))
      starts.push(packed.length)
      entries.push(entry)
    },

    build: () => {
      const isJoin = (draft: WordDraft): boolean => (draft.flags & 1) !== 0
      const isSingle = (draft: WordDraft): boolean => !isJoin(draft)
      const written = buildWords(drafts, isSingle, (draft) => draft.written)
      const folded = buildWords(drafts, isSingle, (draft) => draft.folded)
      const joinsWritten = buildWords(drafts, isJoin, (draft) => draft.written)
      const joinsFolded = buildWords(drafts, isJoin, (draft) => draft.folded)
      const postingStarts = new Uint32Array(drafts.length + 1)
      for (const [word, { names }] of drafts.entries()) postingStarts[word + 1] = postingStarts[word]! + names.length
      const postings = new Uint32Array(postingStarts[drafts.length]!)
      for (const [word, { names }] of drafts.entries()) postings.set(names, postingStarts[word])
      const hashes = Uint32Array.from(drafts, ({ skeleton }) => hashOf(skeleton))
      const counts = new Map<string, number>()
      for (const { folded: sound, names } of drafts.filter(isSingle))
        counts.set(sound, (counts.get(sound) ?? 0) + names.length)
      return {
        ...prefixed('written', written.arrays),
        ...prefixed('folded', folded.arrays),
        ...prefixed('joinsWritten', joinsWritten.arrays),
        ...prefixed('joinsFolded', joinsFolded.arrays),
        flags: Uint8Array.from(drafts, ({ flags }) => flags),
        skeletons: hashes,
        // Words without joins, sorted by consonants.
        bySkeleton: Uint32Array.from(drafts.keys())
          .filter((word) => isSingle(drafts[word]!))
          .sort((left, right) => hashes[left]! - hashes[right]!),
        rows: Uint32Array.from(
          drafts,
          (draft) => (isJoin(draft) ? joinsWritten : written).rows.get(draft.written) ?? 0,
        ),
        frequencies: Uint32Array.from(drafts, (draft) => counts.get(draft.folded) ?? draft.names.length),
        postingStarts,
        postings,
        nameWords: Uint32Array.from(packed),
        nameStarts: Uint32Array.from(starts),
        entries: Uint32Array.from(entries),
      }
    },
  }
}

export const openNameIndex = (arrays: FlatArrays): NameIndex => {
  const written = openWords(below('written', arrays))
  const folded = openWords(below('folded', arrays))
  const joinsWritten = openWords(below('joinsWritten', arrays))
  const joinsFolded = openWords(below('joinsFolded', arrays))
  const flags = bytesIn(arrays, 'flags')
  const [skeletons, bySkeleton, rows, frequencies] = [
    wordsIn(arrays, 'skeletons'),
    wordsIn(arrays, 'bySkeleton'),
    wordsIn(arrays, 'rows'),
    wordsIn(arrays, 'frequencies'),
  ]
  const [postingStarts, postings] = [wordsIn(arrays, 'postingStarts'), wordsIn(arrays, 'postings')]
  const [nameWords, nameStarts, entryOf] = [
    wordsIn(arrays, 'nameWords'),
    wordsIn(arrays, 'nameStarts'),
    wordsIn(arrays, 'entries'),
  ]
  const caches = [new Map<string, PackedMatches>(), new Map<string, PackedMatches>()] as const
  const hasAbjad = flags.some((flag) => (flag & 2) !== 0)
  const tableOf = (word: number) => ((flags[word]! & 1) === 0 ? written : joinsWritten).table

  const textOf = (word: number): string => tableOf(word).textOf(rows[word]!)

  const withConsonants = (consonants: string, visit: (word: number) => void): void => {
    const hash = hashOf(consonants)
    let [low, high] = [0, bySkeleton.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (skeletons[bySkeleton[middle]!]! < hash) low = middle + 1
      else high = middle
    }
    for (; low < bySkeleton.length && skeletons[bySkeleton[low]!] === hash; low++) visit(bySkeleton[low]!)
  }

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
        const row = words.table.find(spelling)
        if (row !== -1) words.each(row, (word) => offer(word, spelling === text ? 1 : FOLDED_SIMILARITY, null))
      }
    }
    for (const reading of readings) {
      withConsonants(reading.consonants, (word) => {
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
        // Two words with vowels are compared by their letters.
        const skeleton = skeletonOf(text)
        withConsonants(skeleton.consonants, (word) => {
          if (isAbjad(word)) offer(word, likenessOf(skeleton, null), null)
        })
      }
    }
    return [...best.values()].sort((left, right) => right.similarity - left.similarity)
  }

  const cached = (word: NameWord, thorough: boolean): readonly WordMatch[] => {
    const cache = caches[thorough ? 0 : 1]
    if (word.spellings.length > 0) return scan(word, thorough)
    const [skeleton] = word.skeletons
    const read = [word.skeletons.length, skeleton?.consonants, skeleton?.gaps?.join()].join(' ')
    const key = `${word.isExact ? '=' : ''}${word.written} ${skeleton === undefined ? '' : read}`
    const known = cache.get(key)
    if (known !== undefined) {
      // The least recently used entry is first.
      cache.delete(key)
      cache.set(key, known)
      return unpackMatches(known)
    }
    const found = scan(word, thorough)
    if (cache.size >= CACHED_WORDS_MAX) cache.delete(cache.keys().next().value ?? '')
    cache.set(key, packMatches(found))
    return found
  }

  const namesWith = (word: number): Uint32Array => postings.subarray(postingStarts[word]!, postingStarts[word + 1]!)
  const wordsOf = (name: number): Uint32Array => nameWords.subarray(nameStarts[name]!, nameStarts[name + 1]!)

  let soundOf: Uint32Array | null = null
  const soundsOf = (): Uint32Array => {
    const rowOf = new Uint32Array(flags.length)
    for (let row = 0; row < folded.table.size; row++) folded.each(row, (word) => (rowOf[word] = row))
    return rowOf
  }
  const soundingLike = (row: number, visit: (word: number) => void): void => {
    soundOf ??= soundsOf()
    const word = written.first(row)
    if (word !== -1) folded.each(soundOf[word]!, visit)
  }

  return {
    names: entryOf.length,
    distinctWords: flags.length,
    resembling: (word) => cached(word, true),
    resemblingJoin: (word) => (word.written.length < JOIN_LENGTH_MIN ? [] : cached(word, false)),
    nearness: (word, text) => {
      const table = tableOf(word)
      const distance = table.distance(rows[word]!, text)
      return { distance, similarity: editSimilarity(distance, Math.max(text.length, table.lengthOf(rows[word]!))) }
    },
    find: (text) => written.first(written.table.find(text)),
    namesWith,
    isJoin: (word) => (flags[word]! & 1) !== 0,
    frequency: (word) => frequencies[word]!,
    textOf,
    firstByte: (word) => tableOf(word).firstByte(rows[word]!),
    wordsOf,
    entryOf: (name) => entryOf[name]!,
    divide: createDivider({
      words: written.table,
      names: entryOf.length,
      soundingLike,
      namesWith,
      tellingWords: (name) =>
        Array.from(wordsOf(name)).flatMap((packed) => (isSmall(roleAt(packed)) ? [] : [wordAt(packed)])),
    }),
  }
}
