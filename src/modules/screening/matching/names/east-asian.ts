// Reads names in Chinese characters and in Hangul: the family name first, mostly without spaces. Chinese characters are read
// in Mandarin, in Korean and in Cantonese, since the signs do not show whose name it is.
import { spellCantonese } from './cantonese.ts'
import { toAscii } from './fold.ts'
import { readingsOf } from './han-readings.ts'
import { familyLength, spellFamilyName, spellGivenName } from './korean.ts'
import { spellMandarin } from './mandarin.ts'
import { combine } from './spellings.ts'

export interface EastAsianWord {
  readonly text: string
  /** All ways to write the word, its text among them; none if the text is the only one. */
  readonly spellings: readonly string[]
}

const HANGUL = /^\p{Script=Hangul}+$/u
const NOT_ASCII_WORD = /[^a-z0-9]/g

/** Family names of two syllables, as the transliteration writes them. */
const TWO_SYLLABLES: ReadonlySet<string> = new Set([
  'ouyang',
  'sima',
  'zhuge',
  'shangguan',
  'situ',
  'dongfang',
  'huangfu',
])
/** Characters that are read otherwise as a family name. */
const FAMILY_READINGS: ReadonlyMap<string, string> = new Map(
  '曾 zeng,单 shan,單 shan,解 xie,仇 qiu,查 zha,朴 piao,盖 ge,蓋 ge,区 ou,區 ou,翟 zhai,缪 miao,繆 miao,覃 qin,樂 yue,乐 yue,种 chong'
    .split(',')
    .map((row) => [row.slice(0, 1), row.slice(2)]),
)
/** The longest name of a person that is written without spaces: two and two. */
const UNSPACED_MAX = 4

const syllablesOf = (text: string): readonly string[] =>
  [...text].map((character) => toAscii(character).replaceAll(NOT_ASCII_WORD, ''))

const pinyin = (text: string): string => syllablesOf(text).join('')

/** @returns family name and given name; null if the pieces do not show which is which */
const splitName = (pieces: readonly string[]): readonly [family: string, given: string] | null => {
  const [first = '', ...others] = pieces
  const whole = pieces.join('')
  if (whole.length > UNSPACED_MAX || whole.length < 2) return null
  if (others.length > 0 && first.length > 1) {
    const last = others.at(-1) ?? ''
    return last.length === 1 ? [last, pieces.slice(0, -1).join('')] : null
  }
  const isTwo = HANGUL.test(whole)
    ? familyLength(whole) === 2
    : whole.length > 2 && TWO_SYLLABLES.has(pinyin(whole.slice(0, 2)))
  const length = isTwo ? 2 : 1
  return [whole.slice(0, length), whole.slice(length)]
}

const spelled = (spellings: readonly string[]): EastAsianWord => ({ text: spellings[0] ?? '', spellings })

const plain = (text: string): EastAsianWord => ({ text, spellings: [] })

/** In Hangul, one text for each way to read the characters; none if one has no reading. */
const inHangul = (text: string): readonly string[] =>
  combine([...text].map((character) => readingsOf(character, 'korean')))

const inKorean = (texts: readonly string[], spell: (syllables: string) => readonly string[]): EastAsianWord =>
  spelled([...new Set(texts.flatMap(spell))])

const inMandarin = (syllables: readonly string[]): EastAsianWord => spelled(spellMandarin(syllables))

const inCantonese = (text: string): EastAsianWord =>
  spelled(spellCantonese([...text].map((character) => readingsOf(character, 'cantonese'))))

/** @param pieces neighbouring words, all in Hangul or all in Chinese characters @returns the words in each way to read them */
export const readEastAsian = (pieces: readonly string[]): readonly (readonly EastAsianWord[])[] => {
  const name = splitName(pieces)
  const isHangul = pieces.every((piece) => HANGUL.test(piece))
  if (name === null) return [pieces.map((piece) => plain(pinyin(piece)))]
  const [family, given] = name
  if (isHangul) return [[inKorean([family], spellFamilyName), inKorean([given], spellGivenName)]]
  // A married woman's name in Hong Kong: her husband's family name, her own, and her given name.
  const isMarried = family.length === 1 && given.length === UNSPACED_MAX - 1
  const readings = [
    [inMandarin([FAMILY_READINGS.get(family) ?? pinyin(family)]), inMandarin(syllablesOf(given))],
    [inKorean(inHangul(family), spellFamilyName), inKorean(inHangul(given), spellGivenName)],
    [inCantonese(family), inCantonese(given)],
    ...(isMarried ? [[family, given.slice(0, 1), given.slice(1)].map(inCantonese)] : []),
  ]
  return readings.filter((words) => words.every(({ text }) => text !== ''))
}
