// A word of an indexed name as one number: the word's index in the lower bits, its role in the upper bits.
import type { WordRole } from './read-name.ts'

const ROLES: readonly WordRole[] = ['name', 'initial', 'particle', 'title', 'form', 'common']
const ROLE_SHIFT = 24
const WORD_MASK = 2 ** ROLE_SHIFT - 1

export const roleAt = (packed: number): WordRole => ROLES[packed >>> ROLE_SHIFT] ?? 'name'
/** Whether words with this role barely identify a person. */
export const isSmall = (role: WordRole): boolean => role === 'particle' || role === 'title'
export const wordAt = (packed: number): number => packed & WORD_MASK
export const packWord = (role: WordRole, word: number): number => (ROLES.indexOf(role) << ROLE_SHIFT) | word
