// Reads a name in any script into lowercase ASCII words, in each possible way.

import { hasMoreHebrewReadings, isHebrewLetterRead, readHebrew } from './abjad.ts'
import { type ArabicWord, createArabicReader, hasMoreArabicReadings, isArabicLetterRead } from './arabic.ts'
import type { Skeleton } from './consonants.ts'
import { type EastAsianWord, readEastAsian, readWithin } from './east-asian.ts'
import { toAscii, toAsciiWord, WORD_MAX } from './fold.ts'
import { applyRules, type SpellingRule } from './spellings.ts'

export type NameKind = 'person' | 'organization'

const ARABIC = /^\p{Script=Arabic}+$/u
const HEBREW = /^\p{Script=Hebrew}+$/u
const HAN = /^\p{Script=Han}+$/u
const EAST_ASIAN = /^[\p{Script=Han}\p{Script=Hangul}]+$/u
const LETTER = /\p{L}/u

const GREEK = /\p{Script=Greek}/u
/** Pairs that represent one sound. */
const GREEK_PAIRS: readonly SpellingRule[] = [
  [/μπ/g, 'b'],
  [/ντ/g, 'd'],
  [/γκ/g, 'g'],
  [/γγ/g, 'ng'],
  [/τζ/g, 'j'],
  [/[οό][υύ]/g, 'u'],
  [/([αάεέ])[υύ]/g, '$1v'],
]

/** Silent in modern Greek, but transliterated as H. */
const ROUGH_BREATHING = '\u0314'

const spokenGreek = (text: string): string =>
  applyRules(text.toLowerCase().normalize('NFD').replaceAll(ROUGH_BREATHING, '').normalize('NFC'), GREEK_PAIRS)

export interface RawWord {
  readonly text: string
  readonly skeletons: readonly Skeleton[]
  readonly spellings: readonly string[]
  readonly isExact: boolean
}

export const toRawWord = (text: string): RawWord => ({
  text: toAsciiWord(text),
  skeletons: [],
  spellings: [],
  isExact: false,
})

const transliterated = (piece: string): RawWord => ({
  ...toRawWord(GREEK.test(piece) ? spokenGreek(piece) : piece),
  isExact: HAN.test(piece),
})

type Way = readonly RawWord[]

const fromArabic = (words: readonly ArabicWord[]): Way =>
  words.map(({ text, skeletons }) => ({ ...toRawWord(text), skeletons, isExact: skeletons.length === 0 }))

const fromHebrew = (piece: string): RawWord => ({ ...toRawWord(piece), skeletons: readHebrew(piece) })

const fromEastAsian = (words: readonly EastAsianWord[], isExact: boolean): Way =>
  words.map(({ text, spellings }) => ({ ...toRawWord(text), spellings, isExact: isExact || spellings.length > 0 }))

/** Maximum letters of a single word. Without short vowels, a longer word may consist of two words. */
const ABJAD_LETTERS_MAX = 7
const ABJAD_PART_MIN = 3
/** The article doesn't count toward the length. */
const ABJAD_ARTICLE = /^ال/

/** Maximum number of cuts: enough for three words of thirteen letters. */
const CUTS_MAX = 32

/** Splits one long word in two, in every possible way. */
const cutWords = (pieces: readonly string[]): readonly (readonly string[])[] =>
  pieces.flatMap((piece, at) => {
    const article = ABJAD_ARTICLE.test(piece) ? 2 : 0
    if (piece.length - article <= ABJAD_LETTERS_MAX || piece.length > WORD_MAX) return []
    const cuts = piece.length - article - 2 * ABJAD_PART_MIN + 1
    return Array.from({ length: cuts }, (_, cut) => {
      const end = article + ABJAD_PART_MIN + cut
      return [...pieces.slice(0, at), piece.slice(0, end), piece.slice(end), ...pieces.slice(at + 1)]
    })
  })

interface Run {
  readonly ways: readonly Way[]
  /** Some signs as a name, the others as separate words. */
  readonly within: readonly Way[]
  readonly hasMoreWays: boolean
}

/** @param read readings of a name's words, the most likely first */
const readAbjad = (
  pieces: readonly string[],
  read: (texts: readonly string[]) => readonly Way[],
  hasMoreReadings: (piece: string) => boolean,
): Run => {
  const cuts = cutWords(pieces)
  return {
    ways: read(pieces),
    within: cuts.slice(0, CUTS_MAX).flatMap((texts) => read(texts).slice(0, 1)),
    hasMoreWays: cuts.length > CUTS_MAX || pieces.some(hasMoreReadings),
  }
}

const readRun = (pieces: readonly string[], kind: NameKind, isWhole: boolean): Run => {
  const [first = ''] = pieces
  if (ARABIC.test(first)) {
    const readArabic = createArabicReader(toAsciiWord)
    return readAbjad(pieces, (texts) => readArabic(texts).map(fromArabic), hasMoreArabicReadings)
  }
  if (HEBREW.test(first)) return readAbjad(pieces, (texts) => [texts.map(fromHebrew)], hasMoreHebrewReadings)
  if (EAST_ASIAN.test(first) && kind === 'person') {
    const isHan = HAN.test(first)
    const read = (words: readonly EastAsianWord[]): Way => fromEastAsian(words, isHan)
    return { ways: readEastAsian(pieces, isWhole).map(read), within: readWithin(pieces).map(read), hasMoreWays: false }
  }
  return { ways: [pieces.map(transliterated)], within: [], hasMoreWays: false }
}

const scriptOf = (piece: string): RegExp | undefined =>
  [ARABIC, HEBREW, EAST_ASIAN].find((script) => script.test(piece))

interface ScriptReading {
  /** Readings of the complete name; at least one. */
  readonly ways: readonly Way[]
  /** Readings of a name among joined words. */
  readonly within: readonly Way[]
  /** Whether letters have no reading that lists may contain. */
  readonly isPartial: boolean
  readonly hasMoreWays: boolean
}

const lettersOutside = (scripts: string): RegExp =>
  new RegExp(`[\\p{L}--[${scripts.replaceAll(/\w+/g, '\\p{Script=$&}').replaceAll(' ', '')}]]`, 'v')
const ALPHABETS = 'Latin Cyrillic Greek Armenian Georgian Common'
/** Scripts that aren't compared. Company names are often translated instead of transliterated. */
const UNCOMPARED: Readonly<Record<NameKind, RegExp>> = {
  person: lettersOutside(`${ALPHABETS} Hebrew Arabic Han Hangul Hiragana Katakana`),
  organization: lettersOutside(ALPHABETS),
}
/** Script of foreign names, except for a given name next to a family name in Chinese characters. */
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u
const GIVEN_NAME = /^\p{Script=Hiragana}{1,4}$/u

const isUncompared = (piece: string, kind: NameKind, pieces: readonly string[]): boolean =>
  UNCOMPARED[kind].test(piece) ||
  (KANA.test(piece) && !(GIVEN_NAME.test(piece) && pieces.some((other) => HAN.test(other))))

/** Marks of tones or stress, or silent characters. */
const COMMON = /\p{Script=Common}/u
const HAS_SOUND = /[a-z0-9]/

const isUnknown = (letter: string): boolean => {
  if (ARABIC.test(letter)) return !isArabicLetterRead(letter)
  if (HEBREW.test(letter)) return !isHebrewLetterRead(letter)
  const read = toAscii(letter)
  return read === '' || (COMMON.test(letter) && !HAS_SOUND.test(read))
}

const hasUnknownLetter = (piece: string): boolean =>
  [...piece].some((letter) => letter > '\u007f' && LETTER.test(letter) && isUnknown(letter))

export const readScripts = (pieces: readonly string[], kind: NameKind): ScriptReading => {
  const runs: string[][] = []
  for (const [at, piece] of pieces.entries()) {
    if (at > 0 && scriptOf(piece) === scriptOf(pieces[at - 1] ?? '')) runs.at(-1)?.push(piece)
    else runs.push([piece])
  }
  const read = runs.map((run) => readRun(run, kind, runs.length === 1))
  const readings = read.map(({ ways }, at) => (ways.length > 0 ? ways : [runs[at]?.map(transliterated) ?? []]))
  const count = Math.max(1, ...readings.map(({ length }) => length))
  const joined = (words: readonly Way[]): Way => words.flat().filter(({ text }) => text !== '')
  return {
    ways: Array.from({ length: count }, (_, way) =>
      joined(readings.map((each) => each[Math.min(way, each.length - 1)] ?? [])),
    ),
    within: read.flatMap(({ within }, at) =>
      within.map((words) => joined(readings.map(([first = []], other) => (other === at ? words : first)))),
    ),
    hasMoreWays: read.some((run) => run.hasMoreWays),
    isPartial:
      read.some(({ ways }) => ways.length === 0) ||
      pieces.some((piece) => hasUnknownLetter(piece) || isUncompared(piece, kind, pieces)),
  }
}
