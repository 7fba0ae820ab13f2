// Reads the pieces of a name, whatever their script, into words in lower-case ASCII, in each way that the script allows.
import { readArabic } from './arabic.ts'
import { type Skeleton, skeletonOf } from './consonants.ts'
import { readEastAsian } from './east-asian.ts'
import { toAscii } from './fold.ts'

export type NameKind = 'person' | 'organization'

const ARABIC = /^\p{Script=Arabic}+$/u
const HEBREW = /^\p{Script=Hebrew}+$/u
const HAN = /^\p{Script=Han}+$/u
const HANGUL = /^\p{Script=Hangul}+$/u
const NOT_ASCII_WORD = /[^a-z0-9]/g

const GREEK = /\p{Script=Greek}/u
/** Pairs of letters that Greek writes for one sound. */
const GREEK_PAIRS: readonly (readonly [RegExp, string])[] = [
  [/μπ/g, 'b'],
  [/ντ/g, 'd'],
  [/γκ/g, 'g'],
  [/γγ/g, 'ng'],
  [/τζ/g, 'j'],
  [/[οό][υύ]/g, 'u'],
  [/([αάεέ])[υύ]/g, '$1v'],
]

const spokenGreek = (text: string): string =>
  GREEK_PAIRS.reduce((spoken, [pair, sound]) => spoken.replaceAll(pair, sound), text.toLowerCase())

export interface RawWord {
  readonly text: string
  readonly skeletons: readonly Skeleton[]
  readonly spellings: readonly string[]
  readonly isExact: boolean
}

export const toRawWord = (text: string): RawWord => ({
  text: text.replaceAll(NOT_ASCII_WORD, ''),
  skeletons: [],
  spellings: [],
  isExact: false,
})

const labelOf = (text: string): string => toAscii(text).replaceAll(NOT_ASCII_WORD, '')

/** The words of neighbouring pieces of one script, in each way to read them: at least one. */
const readRun = (pieces: readonly string[], kind: NameKind): readonly (readonly RawWord[])[] => {
  const [first = ''] = pieces
  if (ARABIC.test(first)) {
    return readArabic(pieces, labelOf).map((words) =>
      words.map(({ text, skeletons }) => ({ ...toRawWord(text), skeletons, isExact: skeletons.length === 0 })),
    )
  }
  if (HEBREW.test(first)) {
    return [
      pieces.map((piece) => {
        const word = toRawWord(toAscii(piece))
        return { ...word, skeletons: [{ ...skeletonOf(word.text), gaps: null }] }
      }),
    ]
  }
  if ((HAN.test(first) || HANGUL.test(first)) && kind === 'person') {
    return readEastAsian(pieces).map((words) =>
      words.map(({ text, spellings }) => ({
        ...toRawWord(text),
        spellings,
        isExact: HAN.test(first) || spellings.length > 0,
      })),
    )
  }
  return [
    pieces.map((piece) => ({
      ...toRawWord(toAscii(GREEK.test(piece) ? spokenGreek(piece) : piece)),
      isExact: HAN.test(piece),
    })),
  ]
}

const scriptOf = (piece: string): RegExp | undefined =>
  [ARABIC, HEBREW, HAN, HANGUL].find((script) => script.test(piece))

/** @returns the words in each way to read them: at least one */
export const readScripts = (pieces: readonly string[], kind: NameKind): readonly (readonly RawWord[])[] => {
  const runs: string[][] = []
  for (const [at, piece] of pieces.entries()) {
    if (at > 0 && scriptOf(piece) === scriptOf(pieces[at - 1] ?? '')) runs.at(-1)?.push(piece)
    else runs.push([piece])
  }
  const read = runs.map((run) => readRun(run, kind))
  const ways = Math.max(1, ...read.map(({ length }) => length))
  return Array.from({ length: ways }, (_, way) =>
    read.flatMap((readings) => readings[Math.min(way, readings.length - 1)] ?? []).filter(({ text }) => text !== ''),
  )
}
