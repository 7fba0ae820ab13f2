// Names with punctuation or spaces between the letters of a word, or in place of letters.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DEFAULT_THRESHOLD } from '../../src/domain/screening-hit.ts'
import { screeningOfNames } from './support.ts'

const LISTED = [
  'Nicolas MADURO MOROS',
  'Kim Jong Un',
  'Sergei LAVROV',
  'Usama bin LADIN',
  'Jean-Bosco NTAGANDA',
  'Ali KUSHAYB',
  'Joe ROE',
  'El SENOR',
  'Сергей Шойгу',
  'أسامة بن لادن',
]
const screening = screeningOfNames(LISTED)
const screen = (name: string) => screening.screen({ name, kind: 'person' }, DEFAULT_THRESHOLD)
const isFoundOrOpen = (name: string, at: number): boolean => {
  const { hits, problem } = screen(name)
  return problem !== null || hits.some(({ entry }) => entry === `${at}`)
}

/** Spaces separate Arabic words, which are not split further. */
const suits = (separator: string, name: string): boolean =>
  !(separator.includes(' ') && /\p{Script=Arabic}/u.test(name))
const SEPARATORS = ".|-|·|_|'|’|‐|–|/|&|•|・| |. | - |..|.-|~|,|:|′".split('|')
const CASES = [(name: string) => name, (name: string) => name.toUpperCase(), (name: string) => name.toLowerCase()]
const anyName = fc.constantFrom(...LISTED.keys())
const anySeparator = fc.constantFrom(...SEPARATORS)
const anyCase = fc.constantFrom(...CASES)

describe('a listed name', () => {
  test('with separators between any letters is found or has a problem', () => {
    fc.assert(
      fc.property(anyName, anySeparator, anyCase, fc.infiniteStream(fc.boolean()), (at, separator, inCase, cuts) => {
        fc.pre(suits(separator, LISTED[at]!))
        const name = [...inCase(LISTED[at]!)]
          .map((letter, place, all) =>
            /\p{L}/u.test(letter) && /\p{L}/u.test(all[place + 1] ?? ' ') && cuts.next().value
              ? letter + separator
              : letter,
          )
          .join('')
        expect([name, isFoundOrOpen(name, at)]).toEqual([name, true])
      }),
      { numRuns: 1_000 },
    )
  })

  const written = LISTED.flatMap((listed, at) => CASES.map((inCase) => [inCase(listed), at] as const))

  test.each(written)(
    'with each word in single letters, or one word alone, is found or has a problem: %s',
    (listed, at) => {
      const words = listed.split(' ')
      for (const separator of SEPARATORS.filter((each) => suits(each, listed))) {
        const separated = words.map((word) => [...word].join(separator))
        const names = [separated.join(' '), ...words.map((_, one) => words.with(one, separated[one]!).join(' '))]
        for (const name of names) expect([name, isFoundOrOpen(name, at)]).toEqual([name, true])
      }
    },
  )

  test.each(written)(
    'with a sign in place of one letter of each long word is found or has a problem: %s',
    (listed, at) => {
      for (const sign of SEPARATORS.filter((separator) => !separator.includes(' '))) {
        for (let place = 1; place < 5; place++) {
          const signed = (word: string) =>
            word.length < 6 ? word : word.slice(0, place) + sign + word.slice(place + 1)
          const name = listed.split(' ').map(signed).join(' ')
          expect([name, isFoundOrOpen(name, at)]).toEqual([name, true])
        }
      }
    },
  )
})

test.each([
  ['Nicolas Maduro M.r.s', 'single-letters'],
  ['Nicolas Ernesto Maduro M-r-s', 'disguised'],
  ['Anna Nic.las', 'disguised'],
  ['Nicolas Maduro M r s', 'single-letters'],
  ['Ш.о.й.г.у Сергей', 'single-letters'],
] as const)('%s is %s', (name, problem) => expect(screen(name).problem).toBe(problem))

test.each([
  'J. R. R. Tolkien',
  'J.R.R. Tolkien',
  'J R R Tolkien',
  'j.r.r. tolkien',
  'J. O. E. Tolkien',
  'J. O. E. Rose',
  'А. С. Пушкин',
  'Jean-Luc Picard',
  'J.-L. Picard',
  "Conan O'Brien",
  'Miles O’Brien',
  'Gal·la Placídia',
  'Park Jin-a',
  'José Ortega-y-Gasset',
  'A.de Vries',
  'St.John Smith',
  'Mohd.Khan',
  'anna.schmidt',
  'Abu l-Fath',
  'Ferrari S.p.A.',
])('%s has no problem and no hit', (name) => expect(screen(name)).toEqual({ hits: [], problem: null }))
