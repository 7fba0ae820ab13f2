// Compares a name with an indexed name, word by word in any order. Identical names have the similarity 1.
import { counted } from '../../../../lib/counted.ts'
import { foldWord } from './fold.ts'
import { isSmall, type NameIndex, roleAt, type WordMatch, wordAt } from './name-index.ts'
import type { NameWord, WordRole } from './read-name.ts'
import { readKeys } from './spellings.ts'
import WORDS from './words.json'

/** How strongly a word identifies a person or company. */
const ROLE_WEIGHT: Readonly<Record<WordRole, number>> = {
  name: 1,
  initial: 0.35,
  particle: 0.06,
  title: 0.06,
  form: 0.12,
  common: 0.45,
}
/** A word found in thousands of names weighs half as much as a rare one. */
const COMMONNESS = 0.045
const WEIGHT_MIN = 0.5
const INITIAL_SIMILARITY = 0.92
const PARTICLES_SIMILARITY = 0.7
/** Words with a lower similarity count as different. */
const SIMILARITY_MIN = 0.5
/** Share of the similarity that remains if only one of several words matches. */
const ONE_WORD_SHARE = 0.88
/** Minimum number of letters for pairing unmatched words. */
const LEFT_OVER_LENGTH_MIN = 3
const LEFT_OVER_DISTANCE_MAX = 2
/** Minimum for a name that contains all words of the listed name. */
const WHOLE_LISTED_SIMILARITY = 0.8
/** Minimum similarity of words that are identical or sound alike, allowing for floating-point error. */
const WHOLE_MIN = 0.97 - 1e-6
const WHOLE_LENGTH_MIN = 9
const ONLY_WORD_LENGTH_MIN = 3
const RARE_MAX = 20
const NEAR_WORDS_SHOWN = 8
/** Weight of the less completely matched name. */
const STRICTER_SHARE = 0.62
/** Like STRICTER_SHARE, for names in syllabic scripts, which omit nothing. */
const SYLLABIC_STRICTER_SHARE = 0.85

export const weightOf = (role: WordRole, frequency: number): number =>
  role === 'name' || role === 'common'
    ? ROLE_WEIGHT[role] * Math.max(WEIGHT_MIN, 1 - COMMONNESS * Math.log2(Math.max(1, frequency)))
    : ROLE_WEIGHT[role]

/** A query word, or two adjacent words joined. */
export interface QueryPart {
  readonly word: NameWord
  /** Covered query words, as bits. */
  readonly mask: number
  readonly weight: number
  /** Indexed word with the same spelling; -1 if there is none. */
  readonly same: number
  readonly matches: ReadonlyMap<number, WordMatch>
  /** Matching joins by listed name. */
  readonly joins: ReadonlyMap<number, WordMatch>
}

export interface NameComparison {
  readonly similarity: number
  /** Whether the query contains all words of the listed name. */
  readonly hasWhole: boolean
  /** If one name is a single word of the other, that word's rarity. */
  readonly sharedOnlyWord: 'rare' | 'common' | null
  /** Returns the listed words and their differences, without the query. */
  readonly describe: () => string
}

interface Pairing {
  readonly part: QueryPart
  readonly listedMask: number
  readonly listed: number
  readonly similarity: number
  readonly distance: number | null
  readonly gain: number
}

const bit = (at: number): number => 1 << at

const byteOf = (letter: string): number => letter.charCodeAt(0)
const INITIALS_ALIKE = new Map(
  [...readKeys(WORDS.initialsAlike)].map(([letter, other]) => [byteOf(letter), byteOf(other)]),
)
const alike = (byte: number): number => INITIALS_ALIKE.get(byte) ?? byte

export const isInitialOf = (index: NameIndex, word: number, initial: NameWord): boolean =>
  alike(index.firstByte(word)) === alike(byteOf(initial.written))

const pairOf = (index: NameIndex, part: QueryPart, word: number, role: WordRole): WordMatch | null => {
  const match = part.matches.get(word)
  if (match !== undefined) return match.similarity >= SIMILARITY_MIN ? match : null
  if (part.same === word && part.same !== -1) return { word, similarity: 1, distance: 0 }
  if (part.word.role === 'particle' && role === 'particle')
    return { word, similarity: PARTICLES_SIMILARITY, distance: null }
  if (part.word.role === 'title' && role === 'title' && part.word.folded === foldWord(index.textOf(word)))
    return { word, similarity: 1, distance: null }
  const isInitial = role === 'initial' ? part.word.role === 'name' : part.word.role === 'initial' && role === 'name'
  if (!isInitial || !isInitialOf(index, word, part.word)) return null
  return { word, similarity: INITIAL_SIMILARITY, distance: null }
}

const pairingsOf = (index: NameIndex, parts: readonly QueryPart[], name: number): readonly Pairing[] => {
  const listed = index.wordsOf(name)
  const pairings: Pairing[] = []
  for (const part of parts) {
    for (let at = 0; at < listed.length; at++) {
      const word = wordAt(listed[at]!)
      const role = roleAt(listed[at]!)
      const match = pairOf(index, part, word, role)
      if (match === null) continue
      const { similarity, distance } = match
      const weight = Math.min(part.weight, weightOf(role, index.frequency(word)))
      pairings.push({ part, listedMask: bit(at), listed: word, similarity, distance, gain: similarity * weight })
    }
    const join = part.joins.get(name)
    if (join === undefined) continue
    const { word, similarity, distance } = join
    const at = placeOfJoin(index, listed, word)
    if (at !== -1)
      pairings.push({
        part,
        listedMask: bit(at) | bit(at + 1),
        listed: word,
        similarity,
        distance,
        gain: part.weight * similarity + 0.01,
      })
  }
  return pairings.sort((left, right) => right.gain - left.gain)
}

/** Pairs unmatched words, tolerating more typing errors. */
const leftOvers = (
  index: NameIndex,
  words: readonly NameWord[],
  parts: readonly QueryPart[],
  listed: Uint32Array,
  askedLeft: number,
  listedLeft: number,
): readonly Pairing[] => {
  const pairings: Pairing[] = []
  for (let from = 0; from < words.length; from++) {
    const part = parts[from]!
    if (
      (askedLeft & bit(from)) === 0 ||
      part.word.written.length < LEFT_OVER_LENGTH_MIN ||
      part.word.skeletons.length > 0 ||
      part.word.isExact
    )
      continue
    for (let to = 0; to < listed.length; to++) {
      if ((listedLeft & bit(to)) === 0) continue
      const word = wordAt(listed[to]!)
      const { similarity, distance } = index.nearness(word, part.word.written)
      if (similarity < SIMILARITY_MIN || distance > LEFT_OVER_DISTANCE_MAX) continue
      pairings.push({ part, listedMask: bit(to), listed: word, similarity, distance, gain: similarity })
    }
  }
  return pairings.sort((left, right) => right.gain - left.gain)
}

/** Returns the position of the join's first word in the name; -1 if there is none. */
const placeOfJoin = (index: NameIndex, listed: Uint32Array, join: number): number => {
  const wanted = index.textOf(join)
  for (let at = 0; at + 1 < listed.length; at++) {
    if (wanted === index.textOf(wordAt(listed[at]!)) + index.textOf(wordAt(listed[at + 1]!))) return at
  }
  return -1
}

/** Pairs words greedily to match the most weight. @param words of the query, weighted by `weights` */
export const compareNames = (
  index: NameIndex,
  words: readonly NameWord[],
  weights: readonly number[],
  parts: readonly QueryPart[],
  name: number,
): NameComparison => {
  const listed = index.wordsOf(name)
  const chosen: Pairing[] = []
  let askedLeft = bit(words.length) - 1
  let listedLeft = bit(listed.length) - 1
  let askedTotal = 0
  let askedGain = 0
  let listedTotal = 0
  let listedGain = 0
  let smallListed = 0
  // Names in syllabic scripts have no particles: `il` and `lo` are names.
  const isSyllabic = words.some(({ spellings }) => spellings.length > 0)
  const roleIn = (at: number): WordRole => {
    const role = roleAt(listed[at]!)
    return isSyllabic && role === 'particle' ? 'name' : role
  }
  const listedWeight = (at: number): number => weightOf(roleIn(at), index.frequency(wordAt(listed[at]!)))
  const take = (pairing: Pairing): void => {
    const { part, listedMask, similarity } = pairing
    if ((askedLeft & part.mask) !== part.mask || (listedLeft & listedMask) !== listedMask) return
    askedLeft &= ~part.mask
    listedLeft &= ~listedMask
    chosen.push(pairing)
    let asked = 0
    let ofList = 0
    for (let at = 0; at < words.length; at++) if ((part.mask & bit(at)) !== 0) asked += weights[at]!
    for (let at = 0; at < listed.length; at++) if ((listedMask & bit(at)) !== 0) ofList += listedWeight(at)
    // A misspelled particle or title looks like a name, so it gets the listed word's weight.
    if ((listedMask & (listedMask - 1)) === 0 && isSmall(roleAt(listed[31 - Math.clz32(listedMask)]!)))
      asked = Math.min(asked, ofList)
    askedTotal += asked
    listedTotal += ofList
    askedGain += asked * similarity
    listedGain += ofList * similarity
  }
  for (const pairing of pairingsOf(index, parts, name)) take(pairing)
  if (chosen.length > 0 && askedLeft !== 0 && listedLeft !== 0) {
    for (const pairing of leftOvers(index, words, parts, listed, askedLeft, listedLeft)) take(pairing)
  }
  for (let at = 0; at < words.length; at++) if ((askedLeft & bit(at)) !== 0) askedTotal += weights[at]!
  for (let at = 0; at < listed.length; at++) {
    if ((listedLeft & bit(at)) === 0) continue
    listedTotal += listedWeight(at)
    if (isSmall(roleIn(at))) smallListed += listedWeight(at)
  }
  const asked = askedGain / askedTotal
  const ofList = listedGain / listedTotal
  const strictness = isSyllabic ? SYLLABIC_STRICTER_SHARE : STRICTER_SHARE
  const blended = strictness * Math.min(asked, ofList) + (1 - strictness) * Math.max(asked, ofList)
  const telling = chosen.filter(({ part }) => !isSmall(part.word.role)).length
  const likeness =
    telling > 1 || (words.length === 1 && listed.length === 1) || blended > 0.999 ? blended : blended * ONE_WORD_SHARE
  const lettersListed = (): number => listed.reduce((sum, packed) => sum + index.textOf(wordAt(packed)).length, 0)
  // A title or particle counts as a second name if both names contain it.
  const isCounted = (at: number): boolean => !isSmall(roleIn(at)) || (listedLeft & bit(at)) === 0
  const hasWhole =
    listed.filter((_, at) => isCounted(at)).length > 1 &&
    listedGain / (listedTotal - smallListed) >= WHOLE_MIN &&
    lettersListed() >= WHOLE_LENGTH_MIN
  const isOne = (roles: readonly WordRole[]): boolean => roles.filter((role) => !isSmall(role)).length === 1
  const sharedOnlyWord = (): NameComparison['sharedOnlyWord'] => {
    if (telling !== 1) return null
    const pairing = chosen.find(({ part }) => !isSmall(part.word.role))
    if (pairing === undefined || pairing.part.word.role !== 'name' || pairing.similarity < WHOLE_MIN) return null
    if (index.textOf(pairing.listed).length < ONLY_WORD_LENGTH_MIN) return null
    if (!isOne(words.map(({ role }) => role)) && !isOne(Array.from(listed, (_, at) => roleIn(at)))) return null
    return index.frequency(pairing.listed) <= RARE_MAX ? 'rare' : 'common'
  }
  return {
    sharedOnlyWord: sharedOnlyWord(),
    similarity: hasWhole ? Math.max(likeness, WHOLE_LISTED_SIMILARITY) : likeness,
    hasWhole,
    describe: () => {
      const near = chosen.slice(0, NEAR_WORDS_SHOWN).map(({ listed: word, similarity, distance }) => {
        if (similarity === 1) return `${index.textOf(word)} identical`
        if (distance === null) return `${index.textOf(word)} similar`
        return `${index.textOf(word)} ${counted(distance, 'letter', 'letters')} off`
      })
      const missing = Array.from(listed, (packed) => index.textOf(wordAt(packed))).filter(
        (_, at) => (listedLeft & bit(at)) !== 0,
      )
      const extra = words.filter((_, at) => (askedLeft & bit(at)) !== 0).length
      return [
        ...near,
        ...(missing.length === 0 ? [] : [`listed but not given: ${missing.join(' ')}`]),
        ...(extra === 0 ? [] : [`${extra} given but not listed`]),
      ].join(', ')
    },
  }
}
