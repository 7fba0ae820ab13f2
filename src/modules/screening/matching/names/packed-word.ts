// The words of an indexed name as numbers: the indexed word in the lower bits, its role in the name above them.
import type { WordRole } from './read-name.ts'

const ROLES: readonly WordRole[] = ['name', 'initial', 'particle', 'title', 'form', 'common']
/** Indexed words are below this. */
const ROLE_SHIFT = 24
const WORD_MASK = 2 ** ROLE_SHIFT - 1

export const roleAt = (packed: number): WordRole => ROLES[packed >>> ROLE_SHIFT] ?? 'name'
/** Words that barely identify anybody. */
export const isSmall = (role: WordRole): boolean => role === 'particle' || role === 'title'
export const wordAt = (packed: number): number => packed & WORD_MASK
export const packWord = (role: WordRole, word: number): number => (ROLES.indexOf(role) << ROLE_SHIFT) | word
