// Whether what someone handed in is what a reviewer looks for: a name by the beginnings of its words, a number of a document
// or of a register wherever its letters and digits stand.
import type { SearchedEvidence } from '../identity/evidence-types.ts'

/** Shorter parts of a number would be found everywhere. */
const NUMBER_MIN = 4

/** Without accents and case: the same name is written in many ways. */
const plain = (text: string): string => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()

const wordsOf = (text: string): readonly string[] => plain(text).match(/[\p{L}\p{N}]+/gu) ?? []

const textsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsOf)
}

/** Null where nothing of the text can be looked for. */
export const fieldMatcher = (text: string): ((fields: SearchedEvidence) => boolean) | null => {
  const wanted = wordsOf(text)
  const number = wanted.join('')
  if (number === '') return null
  const mayBeNumber = number.length >= NUMBER_MIN && /\p{N}/u.test(number)
  return (fields) =>
    textsOf(fields).some((value) => {
      const words = wordsOf(value)
      if (wanted.every((part) => words.some((word) => word.startsWith(part)))) return true
      return mayBeNumber && words.join('').includes(number)
    })
}
