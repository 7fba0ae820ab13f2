// Latin spellings of Chinese syllables. Mandarin: Pinyin, and Wade-Giles as in Taiwan. Cantonese, as in Hong Kong and
// Macau: from Jyutping. All without tones. Sources: ISO 7098; H. Giles, "A Chinese-English Dictionary" (1892);
// Linguistic Society of Hong Kong, Jyutping (1993); Hong Kong Government Cantonese Romanisation.
import LETTERS from './letters.json'
import { applyRules, combine, readTable, type SpellingRule } from './spellings.ts'

/** The first match applies. */
const WADE_GILES_INITIALS: readonly SpellingRule[] = [
  [/^zh|^j|^q/, 'ch'],
  [/^x/, 'hs'],
  [/^z|^c(?!h)/, 'ts'],
  [/^b/, 'p'],
  [/^d/, 't'],
  [/^g/, 'k'],
  [/^r/, 'j'],
]
const WADE_GILES_FINALS: readonly SpellingRule[] = [
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
/** A true vowel, unlike the i after `zh` or `z`. */
const VOWEL_I = /^[jqx]i$/

const toWadeGiles = (syllable: string): string => {
  const [pattern, initial] = WADE_GILES_INITIALS.find(([each]) => each.test(syllable)) ?? [/^/, '']
  const text = syllable.replace(pattern, initial)
  return VOWEL_I.test(syllable) ? text : applyRules(text, WADE_GILES_FINALS)
}

/** Returns lowercase spellings, Pinyin first. @param syllables Pinyin */
export const spellMandarin = (syllables: readonly string[]): readonly string[] => [
  ...new Set([syllables.join(''), ...combine(syllables.map((syllable) => [syllable, toWadeGiles(syllable)]))]),
]

const INITIALS = readTable(LETTERS.cantoneseInitials)
const FINALS = readTable(LETTERS.cantoneseFinals)
/** Syllables with irregular spellings. */
const SYLLABLES = readTable(LETTERS.cantoneseSyllables)
const PARTS = /^(ng|gw|kw|[bpmfdtnlgkhwzcsj])?(.*)$/

const spellSyllable = (syllable: string): readonly string[] => {
  const own = SYLLABLES.get(syllable)
  if (own !== undefined) return own
  const [, initial = '', final = ''] = PARTS.exec(syllable) ?? []
  return combine([INITIALS.get(initial) ?? [initial], FINALS.get(final) ?? [final]])
}

/** Returns lowercase spellings. @param readings Jyutping of each character */
export const spellCantonese = (readings: readonly (readonly string[])[]): readonly string[] =>
  combine(readings.map((each) => each.flatMap(spellSyllable)))
