// Reads a name into words. Invariants: work is bounded for any length; a name without distinctive words has a problem.
import { type NamePiece, readNameText } from '../../../../lib/name-text.ts'
import type { Skeleton } from './consonants.ts'
import { foldWord, WORD_MAX } from './fold.ts'
import { fromRevised } from './korean.ts'
import type { NameProblem } from './name-problems.ts'
import { type NameKind, type RawWord, readScripts, toRawWord } from './read-scripts.ts'
import { hasSignsForLetters, isSpacedOut, joinSeparated } from './separated-letters.ts'
import { COMMON_COMPANY_WORDS, COMPANY_FORMS, FORM_PHRASES, HONORIFICS, NUMBER_WORDS, PARTICLES } from './words.ts'

/** Maximum length. Longer names aren't compared: reading a part would hide the rest. */
export const NAME_LENGTH_MAX = 400
/** Maximum words. Further words are ignored and reported as a problem. */
const WORDS_MAX = 16
/** Minimum letters; shorter names match too many listed names. */
const LETTERS_MIN = 2

export type WordRole = 'name' | 'initial' | 'particle' | 'title' | 'form' | 'common'

export interface NameWord {
  /** Lowercase ASCII in the original spelling. */
  readonly written: string
  readonly folded: string
  /** Readings of a word without short vowels, most likely first; empty for other words. */
  readonly skeletons: readonly Skeleton[]
  /** All spellings of a word in a syllabic script; empty if `written` is the only one. */
  readonly spellings: readonly string[]
  readonly role: WordRole
  /** True for a word from a syllabic script, which has no typing errors. */
  readonly isExact: boolean
}

export interface NameReading {
  readonly words: readonly NameWord[]
  readonly others: readonly (readonly NameWord[])[]
  /** Readings of a name among other text or separated letters. */
  readonly within: readonly (readonly NameWord[])[]
  /** Words that initials may spell. */
  readonly spelled: readonly (readonly NameWord[])[]
  /** Words of each reading, to be divided or joined. */
  readonly divisible: readonly (readonly RawWord[])[]
  /** Null if the words are the complete name. */
  readonly problem: NameProblem | null
}

/** "Servant of", separate or joined to a name of God, with or without the article. */
const SERVANT_OF = 'abdul'
const SERVANT = /^abd(?:[aeiou]|ou)?l?$/
const SERVANT_AND_MASTER = /^abd(?:[aeiou]|ou)(?!l{1,3}ah?i?$)(?:l(?=[a-z]{3})|(?=[b-df-hj-km-np-tv-z][a-z]{3}))/

/** Returns the text after "servant of", which may be empty; null for another word. */
const servantsMaster = (text: string): string | null => {
  if (SERVANT.test(text)) return ''
  return SERVANT_AND_MASTER.test(text) ? text.replace(SERVANT_AND_MASTER, '') : null
}

/** Separates "servant of" (`Abdulrahman`, `Abd al-Rahman`), and joins initials of companies (`A.B.C.`). */
const joined = (raw: readonly RawWord[], kind: NameKind): readonly RawWord[] => {
  const words: RawWord[] = []
  for (let at = 0; at < raw.length; at++) {
    const word = raw[at]
    if (word === undefined) break
    if (kind === 'organization' && word.text.length === 1) {
      let letters = word.text
      while (raw[at + 1]?.text.length === 1) letters += raw[++at]?.text ?? ''
      words.push({ ...word, text: letters })
      continue
    }
    const rest = kind === 'person' ? servantsMaster(word.text) : null
    if (rest !== null) {
      words.push({ ...word, text: rest === '' ? word.text : SERVANT_OF })
      if (rest !== '') words.push({ ...word, text: rest })
      continue
    }
    words.push(word)
  }
  return words
}

const withForms = (texts: readonly RawWord[]): readonly RawWord[] => {
  let text = ` ${texts.map((word) => word.text).join(' ')} `
  for (const [phrase, canonical] of FORM_PHRASES) {
    if (text.includes(` ${phrase} `)) text = text.replace(` ${phrase} `, ` ${canonical} `)
  }
  return text.trim().split(' ').map(toRawWord)
}

/**
 * Particles folded for comparison with words from other alphabets. Titles aren't folded, because some are names in
 * another spelling, such as `Saeed`.
 */
const FOLDED_PARTICLES = new Set([...PARTICLES].filter((word) => word.length > 3).map(foldWord))

const roleOf = (text: string, kind: NameKind): WordRole => {
  // In a company name, a single letter or digit is a number.
  if (text.length === 1) return kind === 'person' ? 'initial' : 'form'
  if (PARTICLES.has(text) || (text.length > 3 && FOLDED_PARTICLES.has(foldWord(text)))) return 'particle'
  if (kind === 'person' && (HONORIFICS.has(text) || SERVANT.test(text))) return 'title'
  if (kind === 'organization' && COMPANY_FORMS.has(text)) return 'form'
  if (kind === 'organization' && COMMON_COMPANY_WORDS.has(text)) return 'common'
  return 'name'
}

/** Returns whether the word has one Latin spelling. */
export const isInLetters = ({ skeletons, spellings }: Pick<RawWord, 'skeletons' | 'spellings'>): boolean =>
  skeletons.length + spellings.length === 0

const wordOf = ({ text: whole, ...reading }: RawWord, kind: NameKind): NameWord => {
  const text = whole.slice(0, WORD_MAX)
  const role = isInLetters(reading) ? roleOf(text, kind) : 'name'
  const canonical = role === 'form' ? (COMPANY_FORMS.get(text) ?? text) : text
  const number = kind === 'organization' ? (NUMBER_WORDS.get(text) ?? null) : null
  return {
    written: text,
    folded: number ?? (role === 'initial' || role === 'form' ? canonical : foldWord(canonical)),
    role,
    ...reading,
  }
}

const SAYS_LITTLE: ReadonlySet<WordRole> = new Set(['particle', 'title', 'form'])

const withoutRepeats = (words: readonly NameWord[]): readonly NameWord[] => {
  const seen = new Set<string>()
  const once = words.filter(({ role, folded }) => role !== 'name' || (!seen.has(folded) && seen.add(folded)))
  return once.length === words.length ? words : once
}

const wordsOf = (raw: readonly RawWord[], kind: NameKind): readonly NameWord[] => {
  const texts = joined(raw, kind)
  const words = (kind === 'organization' ? withForms(texts) : texts).map((word) => wordOf(word, kind))
  const isEmpty = words.every(({ role }) => SAYS_LITTLE.has(role))
  return isEmpty ? words.map((word) => ({ ...word, role: 'name' as const })) : words
}

/** Digits used as letters; words of company names may begin or end with digits. */
const DIGIT_FOR_LETTER: Readonly<Record<NameKind, RegExp>> = {
  person: /\p{L}[\p{N}--\p{Script=Han}]|[\p{N}--\p{Script=Han}]\p{L}/v,
  organization: /\p{L}[\p{N}--\p{Script=Han}]+\p{L}/v,
}

export const divideName = (
  raw: readonly RawWord[],
  kind: NameKind,
  divide: (texts: readonly string[]) => readonly (readonly string[])[],
): readonly { readonly words: readonly NameWord[]; readonly isCut: boolean }[] => {
  const runs: RawWord[][] = []
  for (const [at, word] of raw.entries()) {
    const before = raw[at - 1]
    if (before !== undefined && isInLetters(before) === isInLetters(word)) runs.at(-1)?.push(word)
    else runs.push([word])
  }
  return runs.flatMap((run, at) => {
    if (run[0] === undefined || !isInLetters(run[0])) return []
    return divide(run.map(({ text }) => text)).flatMap((texts) => {
      const words = wordsOf(
        runs.flatMap((each, other) => (other === at ? texts.map(toRawWord) : each)),
        kind,
      )
      const once = withoutRepeats(words)
      const isCut = once.length > WORDS_MAX
      return [...new Set([words, once])].map((each) => ({ words: each.slice(0, WORDS_MAX), isCut }))
    })
  })
}

/** Reads the name as written, and once more with lookalikes as Latin letters. */
const readPieces = (pieces: readonly NamePiece[], kind: NameKind) => {
  const reading = readScripts(
    pieces.map(({ text }) => text),
    kind,
  )
  const latin = pieces.some(({ lookalike }) => lookalike !== null)
    ? readScripts(
        pieces.map(({ text, lookalike }) => lookalike ?? text),
        kind,
      ).ways.slice(0, 1)
    : []
  return { ...reading, latin }
}

export const readName = (name: string, kind: NameKind): NameReading => {
  const nothing = (problem: NameProblem): NameReading => ({
    words: [],
    others: [],
    within: [],
    spelled: [],
    divisible: [],
    problem,
  })
  if (name.length > NAME_LENGTH_MAX) return nothing('too-long')
  const pieces = readNameText(name)
  const { ways, within, latin, isPartial, hasMoreWays } = readPieces(pieces, kind)
  const [raw = [], ...otherWays] = ways
  const texts = raw.map(({ text }) => text)
  if (texts.join('').length < LETTERS_MIN) return nothing('no-letters')
  const words = wordsOf(raw, kind)
  const joinedName = joinSeparated(pieces)
  const ofJoined = joinedName === null ? null : readPieces(readNameText(joinedName.text), kind)
  const inJoined = ofJoined === null ? [] : [...ofJoined.ways, ...ofJoined.latin]
  const korean = kind === 'person' && raw.every(isInLetters) ? fromRevised(texts) : []
  const unrepeated = raw.filter(({ text }, at) => text.length === 1 || texts.indexOf(text) === at)
  const once = withoutRepeats(words)
  const problemOf = (): NameProblem | null => {
    if (pieces.some(({ text, isDisguised }) => isDisguised || DIGIT_FOR_LETTER[kind].test(text))) return 'disguised'
    if (isPartial) return 'unreadable'
    if (hasMoreWays) return 'too-many-ways'
    if (once.length > WORDS_MAX) return 'too-many-words'
    if (texts.some(({ length }) => length > WORD_MAX)) return 'long-word'
    if (kind === 'person' && isSpacedOut(pieces)) return 'single-letters'
    return kind === 'person' && hasSignsForLetters(pieces) ? 'disguised' : null
  }
  const cutWords = (way: readonly RawWord[]): readonly NameWord[] => wordsOf(way, kind).slice(0, WORDS_MAX)
  return {
    words: words.slice(0, WORDS_MAX),
    others: [
      ...(once === words ? [] : [once.slice(0, WORDS_MAX)]),
      ...latin.map((way) => withoutRepeats(wordsOf(way, kind)).slice(0, WORDS_MAX)),
      ...[...otherWays, ...korean.flatMap((signs) => readScripts(signs, kind).ways)].map(cutWords),
    ],
    within: [...within, ...(joinedName?.ofInitials === true ? [] : inJoined)].map(cutWords),
    spelled: joinedName?.ofInitials === true ? inJoined.map(cutWords) : [],
    divisible: [
      raw,
      ...latin,
      ...(joinedName?.hasSingle === true ? inJoined.slice(0, 1) : []),
      ...(unrepeated.length === raw.length ? [] : [unrepeated]),
    ],
    problem: problemOf(),
  }
}
