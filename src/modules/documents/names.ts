// Compares a name with the name in a zone, which contains only A to Z. Source: ICAO 9303-3 §6.A, which recommends two
// spellings for some letters (Ä: AE or A).

import type { Zone } from '../../domain/document-zone.ts'
import { readNameText } from '../../lib/name-text.ts'

export type NameMatch = 'same' | 'similar' | 'other' | 'not-comparable'

const SPELLED: Readonly<Record<string, readonly string[]>> = {
  Ä: ['AE', 'A'],
  Ö: ['OE', 'O'],
  Ü: ['UE', 'U', 'UXX'],
  Å: ['AA', 'A'],
  Ñ: ['N', 'NXX'],
  ẞ: ['SS'],
  ß: ['SS'],
  Æ: ['AE'],
  Ø: ['OE', 'O'],
  Œ: ['OE'],
  Þ: ['TH'],
  Ð: ['D', 'DH'],
  Đ: ['D'],
  Ł: ['L'],
  Ħ: ['H'],
  Ŧ: ['T', 'TH'],
  Ŋ: ['N', 'NG'],
  ı: ['I'],
}
const SPELLINGS_MAX = 16

/** Returns all transliterations; empty for another script. */
const spellingsOf = (word: string): readonly string[] => {
  let spellings = ['']
  for (const letter of word.toUpperCase().normalize('NFC')) {
    const plain = letter.normalize('NFD').replace(/\p{M}/gu, '')
    const ways = SPELLED[letter] ?? (/^[A-Z]*$/.test(plain) ? [plain] : [])
    spellings = spellings.flatMap((before) => ways.map((way) => before + way)).slice(0, SPELLINGS_MAX)
  }
  return spellings
}

/** Returns spellings by word; empty for a word that mixes alphabets. */
const wordsOf = (typed: string): readonly (readonly string[])[] =>
  readNameText(typed).map(({ text, isDisguised }) => (isDisguised ? [] : spellingsOf(text)))

const isNear = (one: string, other: string): boolean => {
  if (Math.abs(one.length - other.length) > 1 || Math.min(one.length, other.length) < 4) return false
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return [one.slice(at + 1), one.slice(at)].some((rest) =>
    [other.slice(at + 1), other.slice(at)].some((its) => rest === its),
  )
}

export type ZoneName = Pick<Zone, 'surname' | 'givenNames' | 'namesCut'>

/** Returns the name, given names first. `NXX` and `UXX` are Ñ and Ü. */
export const nameOfZone = ({ surname, givenNames }: Omit<ZoneName, 'namesCut'>): string =>
  `${givenNames} ${surname}`.trim().replaceAll(/([NU])XX/g, '$1')

/** Returns `not-comparable` for another script. */
export const compareNames = (typed: string, { surname, givenNames, namesCut }: ZoneName): NameMatch => {
  const words = wordsOf(typed)
  if (words.length === 0 || words.some((spellings) => spellings.length === 0)) return 'not-comparable'
  const surnames = surname.split(' ')
  const given = givenNames === '' ? [] : givenNames.split(' ')
  const all = [...surnames, ...given]
  const last = all.at(-1) ?? ''
  const isIn = (spellings: readonly string[], zoneWords: readonly string[]): boolean =>
    spellings.some((spelling) =>
      zoneWords.some((word) => word === spelling || (namesCut && word === last && spelling.startsWith(word))),
    )
  const isTyped = (zoneWord: string): boolean => words.some((spellings) => isIn(spellings, [zoneWord]))
  const wholeSurname = surnames.every(isTyped)
  const known = words.filter((spellings) => isIn(spellings, all)).length
  if (known === words.length && wholeSurname && (given.length === 0 || given.some(isTyped))) return 'same'
  // `van der Berg` and `VANDERBERG`: the same letters in order, or with the surname last.
  const joined = (parts: readonly string[]): string => parts.join('')
  const plain = joined(words.map((spellings) => spellings.at(-1) ?? ''))
  const full = joined(words.map((spellings) => spellings[0] ?? ''))
  const ofZone = [joined([...given, ...surnames]), joined([...surnames, ...given])]
  if (ofZone.some((text) => text === plain || text === full)) return 'same'
  const near = words.some((spellings) => spellings.some((one) => all.some((word) => isNear(one, word))))
  return known > 0 || near ? 'similar' : 'other'
}

/** Returns the same key for every order and most spellings of a name; null for another script. */
export const nameKey = (typed: string): string | null => {
  const words = wordsOf(typed).map(([first]) => first)
  return words.length === 0 || words.includes(undefined) ? null : words.sort().join(' ')
}
