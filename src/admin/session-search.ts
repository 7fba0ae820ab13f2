// Matches evidence with a reviewer's search text: names by word prefixes, numbers by at least four characters.
import type { SearchedEvidence } from '../identity/evidence-types.ts'

/** Minimum length: shorter parts of a number would match almost everything. */
const NUMBER_MIN = 4

const plain = (text: string): string => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()

const wordsOf = (text: string): readonly string[] => plain(text).match(/[\p{L}\p{N}]+/gu) ?? []

const textsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsOf)
}

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
