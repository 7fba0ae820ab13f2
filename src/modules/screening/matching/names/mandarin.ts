// Latin spellings of Mandarin syllables: Pinyin without tones, and Wade-Giles without diacritics, as used in Taiwan.
// Source: ISO 7098; H. Giles, "A Chinese-English Dictionary" (1892).
import { combine } from './spellings.ts'

/** The first match applies. */
const INITIALS: readonly (readonly [RegExp, string])[] = [
  [/^zh|^j|^q/, 'ch'],
  [/^x/, 'hs'],
  [/^z|^c(?!h)/, 'ts'],
  [/^b/, 'p'],
  [/^d/, 't'],
  [/^g/, 'k'],
  [/^r/, 'j'],
]
/** Applied in order, each to the previous result. */
const FINALS: readonly (readonly [RegExp, string])[] = [
  [/^yi$/, 'i'],
  [/^you$/, 'yu'],
  [/^yan$/, 'yen'],
  [/ian$/, 'ien'],
  [/ong$/, 'ung'],
  [/(?<=[kh])e$/, 'o'],
  [/(?<=[^kh])uo$/, 'o'],
  [/([iuy])e$/, '$1eh'],
  [/(?<=ch|sh|^j)i$/, 'ih'],
  [/^tsi$/, 'tzu'],
  [/^si$/, 'ssu'],
]
/** The i in `ji`, `qi` and `xi` is a true vowel, unlike the i after `zh` or `z`. */
const VOWEL_I = /^[jqx]i$/

const toWadeGiles = (syllable: string): string => {
  const [pattern, initial] = INITIALS.find(([each]) => each.test(syllable)) ?? [/^/, '']
  let text = syllable.replace(pattern, initial)
  if (VOWEL_I.test(syllable)) return text
  for (const [final, replacement] of FINALS) text = text.replace(final, replacement)
  return text
}

/** @param syllables Pinyin @returns every spelling in lower case, Pinyin first */
export const spellMandarin = (syllables: readonly string[]): readonly string[] => [
  ...new Set([syllables.join(''), ...combine(syllables.map((syllable) => [syllable, toWadeGiles(syllable)]))]),
]
