// Reads names in Chinese characters and Hangul: family name first, mostly without spaces. Chinese characters don't
// reveal the language, so they are read in Mandarin, Korean and Cantonese. Other characters, such as a title, may
// adjoin a name, so each position is tried.
import { spellCantonese, spellMandarin } from './chinese.ts'
import { toAscii } from './fold.ts'
import { readingsOf } from './han-readings.ts'
import { familyLength, spellFamilyName, spellGivenName } from './korean.ts'
import { combine } from './spellings.ts'

export interface EastAsianWord {
  readonly text: string
  /** All spellings including `text`; empty if `text` is the only one. */
  readonly spellings: readonly string[]
}

const HANGUL = /\p{Script=Hangul}/u
const NOT_ASCII_WORD = /[^a-z0-9]/g

/** Two-syllable family names, transliterated. */
const TWO_SYLLABLES: ReadonlySet<string> = new Set([
  'ouyang',
  'sima',
  'zhuge',
  'shangguan',
  'situ',
  'dongfang',
  'huangfu',
])
/** Characters that are read differently as a family name. */
const FAMILY_READINGS: ReadonlyMap<string, string> = new Map(
  '曾 zeng,单 shan,單 shan,解 xie,仇 qiu,查 zha,朴 piao,盖 ge,蓋 ge,区 ou,區 ou,翟 zhai,缪 miao,繆 miao,覃 qin,樂 yue,乐 yue,种 chong'
    .split(',')
    .map((row) => [row.slice(0, 1), row.slice(2)]),
)
/** Longest name without spaces: two characters each for family name and given name. */
const UNSPACED_MAX = 4
/** Minimum length of a name among other characters. */
const WITHIN_MIN = 3
const SIGNS_MAX = 12

type Signs = readonly string[]
type Words = readonly EastAsianWord[]

const syllablesOf = (signs: Signs): Signs => signs.map((sign) => toAscii(sign).replaceAll(NOT_ASCII_WORD, ''))
const pinyin = (signs: Signs): string => syllablesOf(signs).join('')
const isHangul = (sign: string): boolean => HANGUL.test(sign)
const hasHangul = (signs: Signs): boolean => signs.some(isHangul)

const spelled = (spellings: readonly string[]): EastAsianWord => ({ text: spellings[0] ?? '', spellings })
const plain = (signs: Signs): EastAsianWord => ({ text: pinyin(signs), spellings: [] })
const isRead = (words: Words): boolean => words.every(({ text }) => text !== '')

/** Returns the Hangul texts of all readings; empty if a character has no reading. */
const inHangul = (signs: Signs): readonly string[] =>
  combine(signs.map((sign) => (isHangul(sign) ? [sign] : readingsOf(sign, 'korean'))))

const inKorean = (signs: Signs, spell: (syllables: string) => readonly string[]): EastAsianWord =>
  spelled([...new Set(inHangul(signs).flatMap(spell))])

const inMandarin = (syllables: readonly string[]): EastAsianWord => spelled(spellMandarin(syllables))

const inCantonese = (signs: Signs): EastAsianWord =>
  spelled(spellCantonese(signs.map((sign) => readingsOf(sign, 'cantonese'))))

/** @param signs Two to four characters, family name first */
const readName = (signs: Signs): readonly Words[] => {
  const isTwo = hasHangul(signs)
    ? familyLength(signs.join('')) === 2
    : signs.length > 2 && TWO_SYLLABLES.has(pinyin(signs.slice(0, 2)))
  const [family, given] = [signs.slice(0, isTwo ? 2 : 1), signs.slice(isTwo ? 2 : 1)]
  const korean = [inKorean(family, spellFamilyName), inKorean(given, spellGivenName)]
  if (hasHangul(signs)) return [korean].filter(isRead)
  // Married name in Hong Kong: the husband's family name, the woman's own, and her given name.
  const isMarried = given.length === UNSPACED_MAX - 1
  const readings = [
    [inMandarin([FAMILY_READINGS.get(family.join('')) ?? pinyin(family)]), inMandarin(syllablesOf(given))],
    korean,
    [inCantonese(family), inCantonese(given)],
    ...(isMarried ? [[family, given.slice(0, 1), given.slice(1)].map(inCantonese)] : []),
  ]
  return readings.filter(isRead)
}

/** Reads a single family name or given name. */
const readPart = (signs: Signs): readonly Words[] => {
  const korean = [inKorean(signs, spellFamilyName)]
  if (hasHangul(signs)) return [korean].filter(isRead)
  const asFamilyName = FAMILY_READINGS.get(signs.join(''))
  return [
    [inMandarin(syllablesOf(signs))],
    ...(asFamilyName === undefined ? [] : [[inMandarin([asFamilyName])]]),
    korean,
    [inCantonese(signs)],
  ].filter(isRead)
}

/** Possible positions of a name in a longer text: any three or four characters, or a piece of two. */
const placesOf = (pieces: readonly Signs[], count: number): readonly (readonly [start: number, end: number])[] => {
  const places: (readonly [number, number])[] = []
  for (let length = WITHIN_MIN; length <= Math.min(UNSPACED_MAX, count - 1); length++) {
    for (let start = 0; start + length <= count; start++) places.push([start, start + length])
  }
  let start = 0
  for (const { length } of pieces) {
    if (length === 2 && count > 2) places.push([start, start + 2])
    start += length
  }
  return places
}

/** Returns the characters as one name; null if they do not form one. */
const asOneName = (pieces: readonly Signs[]): Signs | null => {
  const signs = pieces.flat()
  if (signs.length < 2 || signs.length > UNSPACED_MAX) return null
  const [first = []] = pieces
  if (pieces.length === 1 || first.length === 1) return signs
  const last = pieces.at(-1) ?? []
  return last.length === 1 ? [...last, ...pieces.slice(0, -1).flat()] : null
}

/**
 * @param texts Adjacent words in Hangul and Chinese characters
 * @param isWhole Whether there are no words in another script
 * @returns each reading as one name; empty if unreadable
 */
export const readEastAsian = (texts: readonly string[], isWhole: boolean): readonly Words[] => {
  const pieces = texts.map((text) => [...text])
  const signs = pieces.flat()
  if (signs.length > SIGNS_MAX) return []
  const name = asOneName(pieces)
  const isPart = signs.length === 1 || (signs.length === 2 && !isWhole)
  const ways = [...(name === null ? [] : readName(name)), ...(isPart ? readPart(signs) : [])]
  const isMixed = hasHangul(signs) && !signs.every(isHangul)
  return ways.length > 0 || (isMixed && signs.length <= UNSPACED_MAX) ? ways : [pieces.map(plain)]
}

/** Reads some of the characters as a name, and the others as separate words. */
export const readWithin = (texts: readonly string[]): readonly Words[] => {
  const pieces = texts.map((text) => [...text])
  const signs = pieces.flat()
  if (signs.length > SIGNS_MAX) return []
  return placesOf(pieces, signs.length).flatMap(([start, end]) => {
    const others = [signs.slice(0, start), signs.slice(end)].filter(({ length }) => length > 0).map(plain)
    return readName(signs.slice(start, end)).map((words) => [...words, ...others])
  })
}
