// Detects punctuation or spaces between letters (`M.a.d.u.r.o`) or in place of letters (`Nic.las`), but not initials
// (`J. R. R. Tolkien`) or hyphens (`Jean-Luc`).
import type { NamePiece } from '../../../../lib/name-text.ts'
import { COMPANY_FORMS } from './words.ts'

/** Scripts in which one character can be a complete name. */
const SYLLABLES = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u
const SINGLE = /^\p{L}\p{M}*$/u
const isSingle = ({ text }: NamePiece): boolean => SINGLE.test(text) && !SYLLABLES.test(text)

/** Pieces that may form one word: joined by punctuation, or single letters with spaces. */
const groupsOf = (pieces: readonly NamePiece[]): readonly (readonly NamePiece[])[] => {
  const groups: NamePiece[][] = []
  const jointAfter = (at: number): string => pieces[at + 1]?.joint ?? ''
  const areSpaced = (before: NamePiece, piece: NamePiece, at: number): boolean =>
    isSingle(before) && isSingle(piece) && before.joint + jointAfter(at) === ''
  for (const [at, piece] of pieces.entries()) {
    const before = pieces[at - 1]
    const continues =
      before !== undefined &&
      (piece.joint !== '' || areSpaced(before, piece, at)) &&
      !SYLLABLES.test(before.text + piece.text)
    if (continues) groups.at(-1)?.push(piece)
    else groups.push([piece])
  }
  return groups
}

const textOf = (pieces: readonly NamePiece[]): string => pieces.map(({ text }) => text).join('')

const INITIALS_MAX = 3

interface JoinedName {
  readonly text: string
  /** Whether the letters may be initials that happen to spell a word. */
  readonly ofInitials: boolean
  /** With single letters, words can be divided in more ways. */
  readonly hasSingle: boolean
}

/** Joins separated letters to words; null if there are none. */
export const joinSeparated = (pieces: readonly NamePiece[]): JoinedName | null => {
  const groups = groupsOf(pieces)
  if (groups.length === pieces.length) return null
  const ofInitials = groups.every(
    (group) => group.length === 1 || (group.length <= INITIALS_MAX && group.every(isSingle)),
  )
  const hasSingle = groups.some((group) => group.length > 1 && group.some(isSingle))
  return { text: groups.map(textOf).join(' '), ofInitials, hasSingle }
}

const IS_LOWER = /^\p{Ll}\p{M}*$/u
const ENDS_LOWER = /\p{Ll}\p{M}*$/u
const STARTS_LOWER = /^\p{Ll}/u
const HAS_CAPITAL = /\p{Lu}/u
const hasCapitals = (pieces: readonly NamePiece[]): boolean => pieces.some(({ text }) => HAS_CAPITAL.test(text))

const IS_HYPHEN = /^\p{Pd}+$/u
/** Returns whether the joint is a Catalan `l·l`, as in `Gal·la`. */
const isCatalan = (before: string, joint: string, after: string): boolean =>
  joint === '·' && before.endsWith('l') && after.startsWith('l')

const OTHER_FORMS: ReadonlySet<string> = new Set(['oo', 'sro', 'ev'])
/** Returns whether the group is a legal form such as `S.p.A.`: an owner may be a company. */
const isForm = (group: readonly NamePiece[]): boolean => {
  const letters = textOf(group).toLowerCase()
  return group.length > 1 && (COMPANY_FORMS.has(letters) || OTHER_FORMS.has(letters))
}

const hasSigns = (group: readonly NamePiece[]): boolean => {
  const isWithin = group.some(({ text, joint }, at) => {
    const before = at === 0 ? '' : textOf(group.slice(at - 1, at))
    return (
      ENDS_LOWER.test(before) && STARTS_LOWER.test(text) && !IS_HYPHEN.test(joint) && !isCatalan(before, joint, text)
    )
  })
  return isWithin || group.filter(({ text, joint }) => joint !== '' && IS_LOWER.test(text)).length > 1
}

/** Initials are capital letters, and hyphens join words; other punctuation may replace letters. */
export const hasSignsForLetters = (pieces: readonly NamePiece[]): boolean =>
  hasCapitals(pieces) && groupsOf(pieces).some((group) => group.length > 1 && !isForm(group) && hasSigns(group))

export const isSpacedOut = (pieces: readonly NamePiece[]): boolean => {
  const single = groupsOf(pieces).flatMap((group) => (isForm(group) ? [] : group.filter(isSingle)))
  const areInitials =
    single.length <= INITIALS_MAX &&
    single.length < pieces.length &&
    !(hasCapitals(pieces) && single.some(({ text }) => IS_LOWER.test(text)))
  return single.length >= INITIALS_MAX && 2 * single.length > pieces.length && !areInitials
}
