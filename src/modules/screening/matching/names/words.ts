// Words that barely identify a person or company, and spellings of the same name: transliterated, in lowercase.
import { alternatives, readKeys } from './spellings.ts'
import WORDS from './words.json'

const wordsOf = (rows: readonly string[]): ReadonlySet<string> => new Set(rows.flatMap(alternatives))

export const HONORIFICS = wordsOf(WORDS.titles)
export const PARTICLES = wordsOf(WORDS.particles)
/** Articles and "son of", which may be joined to the next word. */
export const JOINING_PARTICLES = wordsOf(WORDS.joiningParticles)
export const COMMON_COMPANY_WORDS = wordsOf(WORDS.commonCompanyWords)
/** Legal forms by abbreviation. Names that differ only in the form are nearly identical. */
export const COMPANY_FORMS = readKeys(WORDS.companyForms)
/** Each phrase precedes its parts. */
export const FORM_PHRASES = Object.entries(WORDS.companyFormPhrases)
export const NUMBER_WORDS = readKeys(WORDS.numbers)
/** Spellings that the folding rules don't unify, one name per row. */
export const SAME_NAMES = WORDS.sameNames.map(alternatives)
