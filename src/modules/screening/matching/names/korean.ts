// Latin spellings of Korean syllables: Revised Romanization, McCune-Reischauer, North Korean and others. By the
// initial-sound law (두음법칙), 리 and 이, 로 and 노 are the same name. Source: National Institute of Korean Language,
// "Romanization of Korean" (2000); McCune and Reischauer (1939).
import LETTERS from './letters.json'
import { alternatives, combine, readTable } from './spellings.ts'

const SYLLABLES_START = 0xac00
const VOWELS = 21
const TAILS = 28

const LEADS = LETTERS.hangulLeads.map(alternatives)
const VOWEL_SPELLINGS = LETTERS.hangulVowels.map(alternatives)
const TAIL_SPELLINGS = LETTERS.hangulTails.map(alternatives)

const LEAD_N = 2
const LEAD_R = 5
const LEAD_S = 9
const LEAD_NONE = 11
const VOWEL_I = 20
/** Vowels before which the initial-sound law drops the consonant. */
const IOTIZED: ReadonlySet<number> = new Set([2, 3, 6, 7, 12, 17, VOWEL_I])

const FAMILY_NAMES = readTable(LETTERS.koreanFamilyNames)
const TWO_SYLLABLES: ReadonlySet<string> = new Set(['남궁', '황보', '제갈', '사공', '선우', '서문', '독고', '동방'])

const spellSyllable = (syllable: string): readonly string[] => {
  const at = syllable.charCodeAt(0) - SYLLABLES_START
  const lead = Math.floor(at / (VOWELS * TAILS))
  const vowel = Math.floor(at / TAILS) % VOWELS
  const leads = [...(LEADS[lead] ?? [])]
  if (lead === LEAD_R) leads.push(IOTIZED.has(vowel) ? '' : 'n')
  if (lead === LEAD_NONE && IOTIZED.has(vowel)) leads.push('r')
  if (lead === LEAD_N && IOTIZED.has(vowel)) leads.push('')
  if (lead === LEAD_S && vowel === VOWEL_I) leads.push('sh')
  return combine([leads, VOWEL_SPELLINGS[vowel] ?? [], TAIL_SPELLINGS[at % TAILS] ?? []])
}

export const familyLength = (syllables: string): number =>
  syllables.length > 2 && TWO_SYLLABLES.has(syllables.slice(0, 2)) ? 2 : 1

/** Returns lowercase spellings, Revised Romanization first. @param syllables Hangul */
export const spellGivenName = (syllables: string): readonly string[] => combine([...syllables].map(spellSyllable))

export const spellFamilyName = (syllables: string): readonly string[] => [
  ...new Set([...spellGivenName(syllables), ...(FAMILY_NAMES.get(syllables) ?? [])]),
]

let revised: ReadonlyMap<string, string> | undefined

/** Returns the first syllable of each romanization; several syllables share one. */
const byRevised = (): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (let at = 0; at < LEADS.length * VOWELS * TAILS; at++) {
    const [lead, vowel, tail] = [Math.floor(at / (VOWELS * TAILS)), Math.floor(at / TAILS) % VOWELS, at % TAILS]
    const spelled = [LEADS[lead], VOWEL_SPELLINGS[vowel], TAIL_SPELLINGS[tail]].map((ways) => ways?.[0] ?? '').join('')
    if (!found.has(spelled)) found.set(spelled, String.fromCharCode(SYLLABLES_START + at))
  }
  return found
}

/**
 * Returns the readings in Hangul of a family name and two syllables; empty for other names. @param words lowercase
 * ASCII
 */
export const fromRevised = (words: readonly string[]): readonly (readonly [family: string, given: string])[] => {
  if (words.length < 2 || words.length > 3) return []
  revised ??= byRevised()
  const syllables = revised
  const familiesOf = (word: string): readonly string[] =>
    [...FAMILY_NAMES].flatMap(([family, spellings]) => (spellings.includes(word) ? [family] : []))
  const givenOf = (word: string): readonly string[] =>
    Array.from(word, (_, at) => [word.slice(0, at), word.slice(at)].map((part) => syllables.get(part) ?? ''))
      .filter((parts) => parts.every((part) => part !== ''))
      .map((parts) => parts.join(''))
  const read = (family: string, given: readonly string[]) =>
    givenOf(given.join('')).flatMap((name) =>
      [...familiesOf(family), ...(syllables.has(family) ? [syllables.get(family)!] : [])].map(
        (each) => [each, name] as const,
      ),
    )
  return [...read(words[0]!, words.slice(1)), ...read(words.at(-1)!, words.slice(0, -1))]
}
