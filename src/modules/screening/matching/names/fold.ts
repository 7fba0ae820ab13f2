// Folds spellings for comparison: ASCII, lowercase, across languages (`Sergej` and `Sergey`).
import anyAscii from 'any-ascii'
import { applyRules, type SpellingRule } from './spellings.ts'
import { SAME_NAMES } from './words.ts'

/** Maximum length of a word. Longer words, which real names don't have, are truncated. */
export const WORD_MAX = 32

export const toAscii = (text: string): string => anyAscii(text).toLowerCase()

/** Returns only letters and digits. */
export const toAsciiWord = (text: string): string => toAscii(text).replaceAll(/[^a-z0-9]/g, '')

const RULES: readonly SpellingRule[] = [
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

/** First spelling of a name, by each of its spellings. */
const SAME = new Map(
  SAME_NAMES.flatMap((group) => group.map((name) => [applyRules(name, RULES), applyRules(group[0] ?? '', RULES)])),
)

/** Spellings of one name often have the same form. @param word lowercase ASCII letters and digits */
export const foldWord = (word: string): string => {
  const folded = applyRules(word.slice(0, WORD_MAX), RULES)
  return (SAME.get(folded) ?? folded).slice(0, WORD_MAX)
}
