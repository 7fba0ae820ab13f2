// Latin spellings of Chinese syllables. Mandarin: Pinyin, and Wade-Giles as in Taiwan. Cantonese, as in Hong Kong and
// Macau: from Jyutping. All without tones. Sources: ISO 7098; H. Giles, "A Chinese-English Dictionary" (1892);
// Linguistic Society of Hong Kong, Jyutping (1993); Hong Kong Government Cantonese Romanisation.
import { alternatives, combine } from './spellings.ts'

/** The first match applies. */
const WADE_GILES_INITIALS: readonly (readonly [RegExp, string])[] = [
  [/^zh|^j|^q/, 'ch'],
  [/^x/, 'hs'],
  [/^z|^c(?!h)/, 'ts'],
  [/^b/, 'p'],
  [/^d/, 't'],
  [/^g/, 'k'],
  [/^r/, 'j'],
]
/** Each is applied to the previous result. */
const WADE_GILES_FINALS: readonly (readonly [RegExp, string])[] = [
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
  let text = syllable.replace(pattern, initial)
  if (VOWEL_I.test(syllable)) return text
  for (const [final, replacement] of WADE_GILES_FINALS) text = text.replace(final, replacement)
  return text
}

/** Lowercase, Pinyin first. @param syllables Pinyin */
export const spellMandarin = (syllables: readonly string[]): readonly string[] => [
  ...new Set([syllables.join(''), ...combine(syllables.map((syllable) => [syllable, toWadeGiles(syllable)]))]),
]

const table = (text: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    text
      .trim()
      .split(/\s*[;\n]\s*/)
      .filter((row) => row !== '')
      .map((row) => [row.slice(0, row.indexOf(' ')), alternatives(row.slice(row.indexOf(' ') + 1))]),
  )

const INITIALS = table(`
  b b p; p p; d d t; t t; g k g; k k; ng ng -; gw kw gw; kw kw; z ch ts j; c ch ts; s s sh; j y
`)
const FINALS = table(`
  aa a ah; aai ai; aau au; aam am; aan an; aang ang; aap ap; aat at; aak ak
  am am um; an an un; ang ang ung; ap ap up; at at ut
  e e eh; ei ei ee i ay; i i ee; o o oh or; ou o ou; u u oo; un un oon; ut ut oot
  oeng eung eong; oek euk eok; eoi ui; eon un; eot ut
  yu u ue yu; yun uen un yun; yut uet ut yut
`)
/** Syllables with irregular spellings. */
const SYLLABLES = table(`
  zi chi tsz tse ji; ci chi tsz tse che; si si sze see sz shi; ng ng; m m ng; jyu yu yue; ji yi yee
`)
const PARTS = /^(ng|gw|kw|[bpmfdtnlgkhwzcsj])?(.*)$/

const spellSyllable = (syllable: string): readonly string[] => {
  const own = SYLLABLES.get(syllable)
  if (own !== undefined) return own
  const [, initial = '', final = ''] = PARTS.exec(syllable) ?? []
  return combine([INITIALS.get(initial) ?? [initial], FINALS.get(final) ?? [final]])
}

/** Lowercase. @param readings Jyutping of each character */
export const spellCantonese = (readings: readonly (readonly string[])[]): readonly string[] =>
  combine(readings.map((each) => each.flatMap(spellSyllable)))
