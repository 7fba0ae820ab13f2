// Words in Arabic script, including Persian, Pashto and Urdu: no short vowels, several Latin spellings per letter, and
// two-word names that Latin may join (`نصر الله`, Nasrallah).
import { createAbjad } from './abjad.ts'
import type { Skeleton } from './consonants.ts'
import LETTERS from './letters.json'
import { readKeys, readTable } from './spellings.ts'

export interface ArabicWord {
  readonly text: string
  /** Empty for a word with a known Latin spelling. */
  readonly skeletons: readonly Skeleton[]
}

const FORMS = readKeys(LETTERS.arabicForms)
/** A, W and Y are long vowels; E is an optional letter. */
const ABJAD = createAbjad(readTable(LETTERS.arabic), 'AWYE')
/** Latin spellings as in words.json. */
const KNOWN: ReadonlyMap<string, string> = new Map(Object.entries(LETTERS.arabicWords))

const SERVANT = 'عبد'
const GOD = 'الله'
/** Misspellings of "God" after "servant". */
const GOD_MISSPELT = /^او?ل[هة]$/
/** "And" or the article as a prefix. */
const ARTICLE = /^و?ال(?=..)/u
/** Second words that Latin joins to the first. */
const JOINED_SECOND: ReadonlySet<string> = new Set(LETTERS.arabicJoinedSecond)
/** First words that may be joined to the second. */
const PREFIXES: readonly string[] = LETTERS.arabicPrefixes
const PREFIXED_MIN = 6

const normalized = (piece: string): string => [...piece].map((letter) => FORMS.get(letter) ?? letter).join('')

export const isArabicLetterRead = (letter: string): boolean => ABJAD.isRead(FORMS.get(letter) ?? letter)

interface Part {
  readonly text: string
  /** How Latin spellings may join this part to the next part. */
  readonly joins: 'prefix' | 'suffix' | null
}

const splitPiece = (piece: string): readonly string[] => {
  for (const prefix of PREFIXES) {
    if (piece.startsWith(prefix) && piece.length >= PREFIXED_MIN) return [prefix, piece.slice(prefix.length)]
  }
  for (const suffix of JOINED_SECOND) {
    if (piece.endsWith(suffix) && piece.length > suffix.length + 1) return [piece.slice(0, -suffix.length), suffix]
  }
  return [piece]
}

const partsOf = (pieces: readonly string[]): readonly Part[] => {
  const texts = pieces
    .map(normalized)
    .flatMap(splitPiece)
    .map((text, at, all) => (all[at - 1] === SERVANT && GOD_MISSPELT.test(text) ? GOD : text))
  return texts.map((text, at) => {
    const next = texts[at + 1]
    if (next === undefined) return { text, joins: null }
    if (JOINED_SECOND.has(next) && (text !== SERVANT || next === GOD)) return { text, joins: 'suffix' }
    return { text, joins: text !== SERVANT && PREFIXES.includes(text) ? 'prefix' : null }
  })
}

/** A final h is a vowel or silent, like the Persian h before `ای`. After some consonants, Latin writes a digraph. */
const FINAL_H = /ه$/
const MAYBE_SILENT = /ح$|ه(?=اي$)|(?<=[تدذزسشصضطظقكگ])[هح]/g

const heard = (letters: string): string => letters.replace(FINAL_H, 'ە').replaceAll(MAYBE_SILENT, 'ۀ')
const skeletonsOf = (letters: string): readonly Skeleton[] => ABJAD.skeletonsOf(heard(letters))
export const hasMoreArabicReadings = (piece: string): boolean => ABJAD.hasMoreReadings(heard(normalized(piece)))

/** @param labelOf returns the Latin text to display */
const wordOf = (letters: string, labelOf: (text: string) => string): ArabicWord => {
  const known = KNOWN.get(letters)
  if (known !== undefined) return { text: known, skeletons: [] }
  const bare = letters.replace(ARTICLE, '')
  const article = bare === letters ? [] : skeletonsOf(`ل${bare}`)
  return {
    text: KNOWN.get(bare) ?? labelOf(bare),
    skeletons: KNOWN.has(bare) ? [] : [...skeletonsOf(bare), ...article],
  }
}

const joinedWord = (first: string, second: string, labelOf: (text: string) => string): ArabicWord => {
  const start = first.replace(ARTICLE, '')
  const end = second === GOD ? second : second.replace(ARTICLE, '')
  return { text: labelOf(start + end), skeletons: [...skeletonsOf(start + end), ...skeletonsOf(start + second)] }
}

const readParts = (
  parts: readonly Part[],
  labelOf: (text: string) => string,
  readWord: (text: string) => ArabicWord,
): readonly (readonly ArabicWord[])[] => {
  const readWith = (joined: readonly Part['joins'][]): readonly ArabicWord[] => {
    const words: ArabicWord[] = []
    for (let at = 0; at < parts.length; at++) {
      const { text, joins } = parts[at]!
      if (joins !== null && joined.includes(joins)) words.push(joinedWord(text, parts[++at]!.text, labelOf))
      else words.push(readWord(text))
    }
    return words
  }
  const hasSuffix = parts.some(({ joins }) => joins === 'suffix')
  const hasPrefix = parts.some(({ joins }) => joins === 'prefix')
  return [
    readWith(['suffix']),
    ...(hasSuffix ? [readWith([])] : []),
    ...(hasPrefix ? [readWith(['prefix', 'suffix'])] : []),
    ...(hasPrefix && hasSuffix ? [readWith(['prefix'])] : []),
  ]
}

type ArabicReader = (pieces: readonly string[]) => readonly (readonly ArabicWord[])[]

/** Caches words, because the ways to split a name share them. */
export const createArabicReader = (labelOf: (text: string) => string): ArabicReader => {
  const words = new Map<string, ArabicWord>()
  return (pieces) =>
    readParts(partsOf(pieces), labelOf, (text) => {
      const word = words.get(text) ?? wordOf(text, labelOf)
      words.set(text, word)
      return word
    })
}
