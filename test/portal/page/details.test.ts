// The forms check by the server's own rules: what passes here is taken there, and what is refused there is refused here.
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

const taken = (draft: Partial<Draft>, names: readonly FieldName[], type: 'kyc' | 'kyb'): boolean => {
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
  test('of a person agrees with the server', () => {
    const draft = fc.record({
      fullName: text,
      day: number(32),
      month: number(12),
      year: fc.oneof(fc.integer({ min: 1880, max: 2030 }).map(String), fc.constantFrom('', '85', '19x5')),
      country: fc.constantFrom('', 'GB', 'DE'),
    })
    fc.assert(
      fc.property(draft, (entered) => {
        expect(problems(entered, PERSONAL).size === 0).toBe(taken(entered, PERSONAL, 'kyc'))
      }),
      { numRuns: 400 },
    )
  })

  test('of a business agrees with the server', () => {
    const draft = fc.record({
      registeredName: text,
      registrationNumber: fc.oneof(text, fc.constant('HRB 12345')),
      country: fc.constantFrom('', 'CH'),
      owners: fc.array(fc.record({ name: text, share: number(110) }), { minLength: 1, maxLength: 4 }),
    })
    fc.assert(
      fc.property(draft, (entered) => {
        expect(problems(entered, BUSINESS).size === 0).toBe(taken(entered, BUSINESS, 'kyb'))
      }),
      { numRuns: 400 },
    )
  })

  test('takes owners of exactly the whole, and of no percent more', () => {
    const owners = (...shares: readonly string[]): Partial<Draft> => ({
      registeredName: 'ACME',
      registrationNumber: 'HRB 1',
      country: 'CH',
      owners: shares.map((share) => ({ name: 'Ada', share })),
    })
    for (const whole of [owners('100'), owners('60', '40'), owners('1', '99')]) {
      expect([...problems(whole, BUSINESS)]).toEqual([])
      expect(taken(whole, BUSINESS, 'kyb')).toBe(true)
    }
    expect([...problems(owners('60', '41'), BUSINESS)]).toEqual([['owner-share-0', english.details.sharesOver]])
    expect([...problems(owners('101'), BUSINESS)]).toEqual([['owner-share-0', english.details.shareInvalid]])
    for (const over of [owners('60', '41'), owners('101')]) expect(taken(over, BUSINESS, 'kyb')).toBe(false)
  })

  test('says what is wrong where it is wrong', () => {
    expect([...problems({ day: '30', month: '2', year: '1990' }, PERSONAL)]).toEqual([
      ['fullName', english.details.nameMissing],
      ['birth-day', english.details.dateInvalid],
      ['country', english.details.countryMissing],
    ])
    expect(problems({ day: '16', month: '1', year: '2026' }, ['birthDate']).get('birth-day')).toBe(
      english.details.dateFuture,
    )
    expect(problems({ day: '1', month: '1', year: '1890' }, ['birthDate']).get('birth-day')).toBe(
      english.details.dateOld,
    )
  })

  test('shows what was saved as it was entered', () => {
    const fields = { fullName: 'Ada', birthDate: '1985-02-01', country: 'GB' }
    expect(toFields(toDraft(fields), PERSONAL)).toEqual(fields)
    expect(toDraft(fields)).toMatchObject({ day: '1', month: '2', year: '1985' })
  })
})
