// Forms accept exactly the input that the server accepts.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { FieldName } from '../../../src/domain/requirements.ts'
import { decodeFields } from '../../../src/identity/evidence/fields.ts'
import { checkDraft } from '../../../src/portal/page/details/check.ts'
import { type Draft, EMPTY_DRAFT, toDraft, toFields } from '../../../src/portal/page/details/draft.ts'
import { english } from '../../../src/portal/page/messages/english.ts'

const NOW = new Date('2026-01-15T12:00:00Z')
const PERSONAL: readonly FieldName[] = ['fullName', 'birthDate', 'country']
const BUSINESS: readonly FieldName[] = ['registeredName', 'registrationNumber', 'country', 'owners']

const problems = (draft: Partial<Draft>, names: readonly FieldName[]) =>
  checkDraft({ ...EMPTY_DRAFT, ...draft }, names, NOW, english.details)

const isAccepted = (draft: Partial<Draft>, names: readonly FieldName[], type: 'kyc' | 'kyb'): boolean => {
  try {
    decodeFields(toFields({ ...EMPTY_DRAFT, ...draft }, names), type, NOW.getTime() / 1000)
    return true
  } catch {
    return false
  }
}

const text = fc.oneof(
  fc.string({ maxLength: 220, unit: 'grapheme' }),
  fc.constantFrom('', ' ', 'Ada', 'a\u202eb', 'x'.repeat(201)),
)
const number = (maximum: number) =>
  fc.oneof(fc.integer({ min: 0, max: maximum }).map(String), fc.constantFrom('', '0', '31', '1.5', 'x', ' 7 '))

describe('a form', () => {
  const person = fc.record({
    fullName: text,
    day: number(32),
    month: number(12),
    year: fc.oneof(fc.integer({ min: 1880, max: 2030 }).map(String), fc.constantFrom('', '85', '19x5')),
    country: fc.constantFrom('', 'GB', 'DE'),
  })
  const business = fc.record({
    registeredName: text,
    registrationNumber: fc.oneof(text, fc.constant('HRB 12345')),
    country: fc.constantFrom('', 'CH'),
    owners: fc.array(fc.record({ name: text, share: number(110) }), { minLength: 1, maxLength: 4 }),
  })
  test.each<[string, fc.Arbitrary<Partial<Draft>>, readonly FieldName[], 'kyc' | 'kyb']>([
    ['person', person, PERSONAL, 'kyc'],
    ['business', business, BUSINESS, 'kyb'],
  ])('of a %s agrees with the server', (_name, draft, fields, type) => {
    fc.assert(
      fc.property(draft, (entered) => {
        expect(problems(entered, fields).size === 0).toBe(isAccepted(entered, fields, type))
      }),
      { numRuns: 400 },
    )
  })

  test('accepts owners with at most 100 percent in total', () => {
    const owners = (...shares: readonly string[]): Partial<Draft> => ({
      registeredName: 'ACME',
      registrationNumber: 'HRB 1',
      country: 'CH',
      owners: shares.map((share) => ({ name: 'Ada', share })),
    })
    for (const whole of [owners('100'), owners('60', '40'), owners('1', '99')]) {
      expect([...problems(whole, BUSINESS)]).toEqual([])
      expect(isAccepted(whole, BUSINESS, 'kyb')).toBe(true)
    }
    expect([...problems(owners('60', '41'), BUSINESS)]).toEqual([['owner-share-0', english.details.sharesOver]])
    expect([...problems(owners('101'), BUSINESS)]).toEqual([['owner-share-0', english.details.shareInvalid]])
    for (const over of [owners('60', '41'), owners('101')]) expect(isAccepted(over, BUSINESS, 'kyb')).toBe(false)
  })

  test('shows each problem at its field', () => {
    expect([...problems({ day: '30', month: '2', year: '1990' }, PERSONAL)]).toEqual([
      ['fullName', english.details.nameMissing],
      ['birth-day', english.details.dateInvalid],
      ['country', english.details.countryMissing],
    ])
    const { dateFuture, dateOld } = english.details
    expect([...problems({ day: '16', month: '1', year: '2026' }, ['birthDate'])]).toEqual([['birth-day', dateFuture]])
    expect([...problems({ day: '1', month: '1', year: '1890' }, ['birthDate'])]).toEqual([['birth-day', dateOld]])
  })

  test('shows stored fields as they were entered', () => {
    const fields = { fullName: 'Ada', birthDate: '1985-02-01', country: 'GB' }
    expect(toFields(toDraft(fields), PERSONAL)).toEqual(fields)
    expect(toDraft(fields)).toMatchObject({ day: '1', month: '2', year: '1985' })
  })
})
