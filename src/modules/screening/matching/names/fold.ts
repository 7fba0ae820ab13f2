// Turns one word of a name into the letters by which it is compared: transliterated to ASCII, lower case, with the letters
// that alphabets and languages write differently brought together (`Sergej` and `Sergey`, `Qadhafi` and `Kadafi`).
import anyAscii from 'any-ascii'
import { SAME_NAMES } from './words.ts'

/** Longer words are cut: no name's word is as long. */
export const WORD_MAX = 32

/** Lower-case ASCII letters and digits of a text, whatever its script; spaces stay, everything else is dropped. */
export const toAscii = (text: string): string => anyAscii(text).toLowerCase()

/** In order: each rule sees what the one before has left. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/dzh|dj/g, 'j'],
  [/shch|sch|sh/g, 's'],
  [/tch|ch/g, 'c'],
  [/kh/g, 'h'],
  [/gh/g, 'g'],
  [/zh/g, 'z'],
  [/dh/g, 'd'],
  [/th/g, 't'],
  [/ph/g, 'f'],
  [/ck|q/g, 'k'],
  [/c(?=[aourlkt]|$)/g, 'k'],
  [/^x/g, 's'],
  [/x/g, 'ks'],
  [/ou|oo|w(?=[^aeiouy]|$)/g, 'u'],
  [/w/g, 'v'],
  [/ij|iy|yi|yy|ii|ee|ie|ei|ey|ay|ai|ae|ej|aj|oy|oj|oi/g, 'i'],
  [/[yj]/g, 'i'],
  [/o/g, 'u'],
  [/e/g, 'i'],
  [/(.)\1+/g, '$1'],
  [/([aiu])h$/g, '$1'],
  [/([iu])f$/g, '$1v'],
]

const byRules = (word: string): string => {
  let folded = word
  for (const [pattern, replacement] of RULES) folded = folded.replaceAll(pattern, replacement)
  return folded
}

/** Name in any of its spellings → the first one's. */
const SAME = new Map(SAME_NAMES.flatMap((group) => group.map((name) => [byRules(name), byRules(group[0] ?? '')])))

/**
 * @param word lower-case ASCII letters and digits
 * @returns what stands for it in comparisons; words that are spellings of each other often have the same
 */
export const foldWord = (word: string): string => {
  const folded = byRules(word.slice(0, WORD_MAX))
  return (SAME.get(folded) ?? folded).slice(0, WORD_MAX)
}
