// Entered fields compared with a zone: names in any order and spelling, dates and countries.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Zone } from '../../src/domain/document-zone.ts'
import { ageOn } from '../../src/lib/time.ts'
import { compareZone } from '../../src/modules/documents/compare.ts'
import { compareNames, nameKey } from '../../src/modules/documents/names.ts'

const NOW = Date.UTC(2026, 10, 23, 12) / 1000
const ZONE: Zone = {
  format: 'TD3',
  type: 'P',
  issuer: 'D<<',
  nationality: 'D<<',
  number: 'C01X00T47',
  surname: 'MUELLER',
  givenNames: 'ANNA MARIA',
  namesCut: false,
  birthDate: '1974-08-12',
  expiryDate: '2031-04-15',
  sex: 'F',
}

describe('a name', () => {
  test.each([
    ['Anna Maria Müller', 'same'],
    ['Müller, Anna Maria', 'same'],
    ['MUELLER ANNA', 'same'],
    ['Anna-Maria Müller', 'same'],
    ['anna  maria   mueller', 'same'],
    ['Anna Maria Miller', 'similar'],
    ['Anna Schmidt', 'similar'],
    ['Anna Maria', 'similar'],
    ['Müller', 'similar'],
    ['Anna Maria Müller Schmidt', 'similar'],
    ['Bob Jones', 'other'],
    ['Анна Мюллер', 'not-comparable'],
    ['山田', 'not-comparable'],
    ['🙂', 'not-comparable'],
  ] as const)('%s is %s', (typed, expected) => {
    expect(compareNames(typed, ZONE)).toBe(expected)
  })

  test.each([
    ["Seán O'Neill", { surname: 'ONEILL', givenNames: 'SEAN', namesCut: false }],
    ['Jan van der Berg', { surname: 'VANDERBERG', givenNames: 'JAN', namesCut: false }],
    ['Jan van der Berg', { surname: 'VAN DER BERG', givenNames: 'JAN', namesCut: false }],
    ['Łukasz Żółć', { surname: 'ZOLC', givenNames: 'LUKASZ', namesCut: false }],
    ['Ñuño Peña', { surname: 'PENXXA', givenNames: 'NUNO', namesCut: false }],
    ['Suharto', { surname: 'SUHARTO', givenNames: '', namesCut: false }],
    ['Papandropoulous Jonathon Trevor', { surname: 'PAPANDROPOULOUS', givenNames: 'JONATHON TREV', namesCut: true }],
    ['Jürgen Groß', { surname: 'GROSS', givenNames: 'JURGEN', namesCut: false }],
  ] as const)('%s equals the name of its zone', (typed, zone) => {
    expect(compareNames(typed, zone)).toBe('same')
  })

  test('is compared quickly for any characters', () => {
    const started = performance.now()
    for (const text of ['x', 'ä'.repeat(200), '\u202e'.repeat(200), '🙂'.repeat(100), '’'.repeat(200)]) {
      expect(compareNames(text, ZONE)).not.toBe('same')
      nameKey(text)
    }
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => void compareNames(text, ZONE)))
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  test('has the same key in any word order', () => {
    expect(nameKey('Anna Maria Müller')).toBe(nameKey('MUELLER, Maria Anna'))
    expect(nameKey('Anna Müller')).not.toBe(nameKey('Anna Miller'))
    expect(nameKey('Анна')).toBeNull()
  })
})

describe('a document', () => {
  const typed = { fullName: 'Anna Müller', birthDate: '1974-08-12', country: 'DE' }
  const findings = (zone: Partial<Zone>, more: Partial<typeof typed> = {}) =>
    Object.fromEntries(
      compareZone({ ...ZONE, ...zone }, { ...typed, ...more }, NOW).map(({ name, finding }) => [name, finding]),
    )

  test('that matches passes', () => {
    expect(findings({})).toEqual({ name: 'passed', 'birth-date': 'passed', country: 'passed', expiry: 'passed' })
  })

  test('that differs fails or needs a review at each difference', () => {
    expect(findings({}, { fullName: 'Bob Jones' })).toMatchObject({ name: 'failed' })
    expect(findings({}, { birthDate: '1974-08-13' })).toMatchObject({ 'birth-date': 'failed' })
    expect(findings({ birthDate: null })).toMatchObject({ 'birth-date': 'look' })
    expect(findings({}, { country: 'FR' })).toMatchObject({ country: 'look' })
    expect(findings({ issuer: 'UTO', nationality: 'UTO' })).toMatchObject({ country: 'look' })
    expect(findings({ issuer: 'FRA' }, { country: 'FR' })).toMatchObject({ country: 'passed' })
  })

  test('is valid through its last day in every time zone', () => {
    expect(findings({ expiryDate: '2026-11-22' })).toMatchObject({ expiry: 'passed' })
    expect(findings({ expiryDate: '2026-11-21' })).toMatchObject({ expiry: 'failed' })
  })
})

test('an age counts from birthday to birthday', () => {
  expect(['2008-11-23', '2008-11-24', '2021-01-01'].map((birthDate) => ageOn(birthDate, NOW))).toEqual([18, 17, 5])
})
