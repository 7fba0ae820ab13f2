// Points of each part of a score, at its bounds.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { EntryKind, ListedEntry, ScreenedSubject } from '../../src/modules/screening/matching/entry.ts'
import { scoreBirthDate } from '../../src/modules/screening/matching/narrow.ts'
import { listed, screeningOf as screeningOfEntries } from './support.ts'

const day = (year: number, month: number, date: number): string =>
  `${year}-${`${month}`.padStart(2, '0')}-${`${date}`.padStart(2, '0')}`
const pointsOf = (given: string, ...listed: readonly string[]) => scoreBirthDate(given, listed)?.points

describe('a date of birth', () => {
  test('in the listed year is equal, has day and month swapped, or is a different day', () => {
    const number = fc.integer({ min: 1, max: 12 })
    fc.assert(
      fc.property(number, number, number, number, (month, date, listedMonth, listedDate) => {
        const isSame = month === listedMonth && date === listedDate
        const isExchanged = month === listedDate && date === listedMonth
        expect(pointsOf(day(1970, month, date), day(1970, listedMonth, listedDate))).toBe(
          isSame ? 8 : isExchanged ? 6 : 0,
        )
      }),
    )
    expect(pointsOf('1970-05-06', '1970-06-05')).toBe(6)
    expect(pointsOf('1970-05-06', '1970-06-07')).toBe(0)
    expect(pointsOf('1970-05-06', '1970-07-05')).toBe(0)
  })

  test.each([
    ['1959', null],
    ['1960', 2],
    ['1970', 2],
    ['1980', 2],
    ['1981', null],
    ['1985', null],
  ])('matches a range of approximate years, inclusive, and not outside it: %s', (year, points) => {
    const between = { part: 'birth_date', points: 2, detail: 'between the listed years of birth' } as const
    const score = scoreBirthDate(year, ['~1960', '~1980', '1999'])
    if (points === null) expect(score).not.toEqual(between)
    else expect(score).toEqual(between)
  })
  test('is close to one approximate year, which forms no range with an exact year', () => {
    expect(scoreBirthDate('1960', ['~1960'])?.detail).toBe('close to the listed year of birth')
    expect(scoreBirthDate('1970', ['~1960', '1980'])?.points).toBe(-18)
  })
})

const entry = (names: readonly string[], kind: EntryKind = 'person', birthDates: readonly string[] = []): ListedEntry =>
  listed('1', names, { kind, birthDates })
const screeningOf = (...entries: readonly ListedEntry[]) =>
  screeningOfEntries(entries.map((each, at) => ({ ...each, id: `${at + 1}` })))
const PRIMEROV = { ...entry(['Ivan Petrovich Primerov'], 'person', ['1966-04-28']), countries: ['RU'] }

test.each([
  ['person', true, true],
  ['other', true, true],
  ['organization', false, true],
  ['vessel', false, true],
  ['aircraft', false, true],
] as const)('a listed %s is a person: %p, an organization: %p', (kind, isPerson, isOrganization) => {
  const screening = screeningOf(entry(['Ivan Primerov'], kind))
  const isHit = (asked: 'person' | 'organization') =>
    screening.screen({ name: 'Ivan Primerov', kind: asked }, 75).hits.length > 0
  expect([isHit('person'), isHit('organization')]).toEqual([isPerson, isOrganization])
})

test.each(['Ivan Primerov Sokolov', 'Ivan Primerof', 'Petrovich Sokolov', 'Ivan Petrovic Primerova Anna'])(
  'a date of birth and a country raise the score of a name that is below the threshold without them: %s',
  (name) => {
    const screening = screeningOf(PRIMEROV)
    const asked = { name, kind: 'person' } as const
    const known = { ...asked, birthDate: '1966-04-28', country: 'RU' }
    const score = screening.screen(asked, 1).hits[0]?.score ?? 0
    expect(score).toBeGreaterThan(0)
    const highest = Math.min(99, score + 10)
    for (let threshold = score + 1; threshold <= highest; threshold++) {
      expect(screening.screen(asked, threshold).hits).toEqual([])
      expect(screening.screen(known, threshold).hits).toHaveLength(1)
    }
    expect(screening.screen(known, highest + 1).hits).toEqual([])
  },
)

describe('a different date and country', () => {
  const screening = screeningOf(PRIMEROV)
  const other = { birthDate: '1990-01-01', country: 'DE', isFromDocument: true }
  test.each([60, 70, 80, 90, 100])('never exclude an equal name: threshold %d', (threshold) => {
    const { hits } = screening.screen({ ...other, name: 'Petrovich Primerov, Ivan' }, threshold)
    expect(hits).toMatchObject([{ score: 79 }])
  })
  test('exclude a similar name', () => {
    expect(screening.screen({ ...other, name: 'Ivan Petrovich Primerof' }, 80).hits).toEqual([])
  })
})

describe('one distinctive word', () => {
  const scoreOf = (name: string, listed: string) =>
    screeningOf(entry([listed])).screen({ name, kind: 'person' }, 1).hits[0]?.score ?? 0

  test('is a match if neither name has another distinctive word', () => {
    expect(scoreOf('Suharta', 'Suharto')).toBe(87)
    expect(scoreOf('Suharto', 'Suharto')).toBe(100)
  })

  test('is the whole name if the particles are equal', () => expect(scoreOf('al Suharto', 'al Suharto')).toBe(100))

  test('scores less if another word is missing, added or similar', () => {
    const twoWords = scoreOf('Ivan Suharta', 'Ivan Suharto')
    expect(scoreOf('Suharto', 'Ivan Suharto')).toBeLessThan(65)
    expect(scoreOf('Ivan Suharto', 'Suharto')).toBeLessThan(65)
    expect(scoreOf('al Suharta', 'al Suharto')).toBeLessThan(80)
    expect(twoWords).toBeGreaterThan(90)
  })
})

describe('a person with a one-word name', () => {
  const suharto = (name: string): ListedEntry => ({ ...entry([name], 'person', ['1921-06-08']), countries: ['ID'] })
  const hitsOf = (name: string, listed: string, narrowing: Partial<ScreenedSubject>, others: readonly string[] = []) =>
    screeningOf(...others.map((other) => entry([other])), suharto(listed))
      .screen({ name, kind: 'person', ...narrowing }, 75)
      .hits.filter((hit) => hit.entry === `${others.length + 1}`)
  const date = { birthDate: '1921-06-08' }
  const country = { country: 'ID' }
  const LETTERS = [...'abcdefghijklmnopqrst']
  const OTHERS = LETTERS.flatMap((one) => LETTERS.map((other) => `Suharto Xan${one}thop${other}`))

  describe.each([
    ['Suharto Wibowo', 'Suharto'],
    ['Budi Suharto Wibowo', 'Suharto'],
    ['Suhartho Wibowo', 'Suharto'],
    ['Suharto', 'Suharto Wibowo'],
    ['Suharto', 'Budi Suharto Wibowo'],
  ])('%s, listed as %s', (name, listed) => {
    test('is a hit with added words if the date or country matches', () => {
      expect(hitsOf(name, listed, {})).toEqual([])
      expect(hitsOf(name, listed, { birthDate: '1990-01-01', country: 'DE' })).toEqual([])
      expect(hitsOf(name, listed, date)).toMatchObject([{ score: 81, why: [{ points: 73 }, { points: 8 }] }])
      expect(hitsOf(name, listed, country)).toMatchObject([{ score: 75 }])
      expect(hitsOf(name, listed, { ...date, ...country })).toMatchObject([{ score: 83 }])
      expect(hitsOf(name, listed, { ...country, birthDate: '1990-01-01', isFromDocument: true })).toEqual([])
    })

    test('needs the date if many names have the word, and is found among all of them', () => {
      expect(hitsOf(name, listed, country, OTHERS.slice(0, 19))).toHaveLength(1)
      expect(hitsOf(name, listed, country, OTHERS)).toEqual([])
      expect(hitsOf(name, listed, date, OTHERS)).toHaveLength(1)
      expect(hitsOf(name, listed, { birthDate: '1921' }, OTHERS)).toHaveLength(1)
    })
  })

  test.each([
    ['Suharta Wibowo', 'Suharto', 'another word'],
    ['Li Wibowo', 'Li', 'two letters'],
    ['Suharto Wibowo', 'Suharto Santoso', 'two words each'],
  ])('isn’t a hit: %s, listed as %s (%s)', (name, listed) => {
    expect(hitsOf(name, listed, { ...date, ...country })).toEqual([])
  })

  test('isn’t a hit if the query is a company', () => {
    const company = screeningOf({ ...entry(['Suharto'], 'organization'), countries: ['ID'] })
    expect(company.screen({ name: 'Suharto Wibowo', kind: 'organization', country: 'ID' }, 75).hits).toEqual([])
  })
})

test('a repeated query has the same score', () => {
  const screening = screeningOf(entry(['DIDO']))
  const scores = [1, 2].map(() => screening.screen({ name: 'DIO', kind: 'person' }, 75).hits[0]?.score)
  expect(scores).toEqual([78, 78])
})
