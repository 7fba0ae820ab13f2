// Fields of persons and businesses: the accepted values, and refusals that do not repeat the input.
import { describe, expect, test } from 'bun:test'
import { FieldInvalidError } from '../../../src/domain/errors.ts'
import { requirementsOf } from '../../../src/domain/requirements.ts'
import { COUNTRY_CODES } from '../../../src/identity/evidence/countries.ts'
import { cleanFileName, decodeFields } from '../../../src/identity/evidence/fields.ts'
import { START_SECONDS } from '../../store/temporary-store.ts'

const decode = (fields: object, checkType: 'kyc' | 'kyb' = 'kyc') => decodeFields(fields, checkType, START_SECONDS)

describe('fields', () => {
  test('are trimmed and normalized', () => {
    expect(decode({ fullName: '  Zoë\u0308 Ångström ', birthDate: '1990-02-28', country: 'DE' })).toEqual({
      fullName: 'Zoë\u0308 Ångström'.normalize('NFC'),
      birthDate: '1990-02-28',
      country: 'DE',
    })
    expect(decode({ fullName: 'x'.repeat(200) }).fullName).toHaveLength(200)
    // Four code points that normalize to one.
    expect(decode({ fullName: '\u03b1\u0313\u0300\u0345'.repeat(200) }).fullName).toHaveLength(200)
    expect(decode({})).toEqual({})
    const business = { registeredName: 'ACME GmbH', registrationNumber: 'HRB 1' }
    expect(decode({ ...business, owners: [{ name: 'A', sharePercent: 51, extra: 1 }] }, 'kyb')).toEqual({
      ...business,
      owners: [{ name: 'A', sharePercent: 51 }],
    })
  })

  test.each<[object]>([
    [{ fullName: '' }],
    [{ fullName: '   ' }],
    [{ fullName: 'x'.repeat(201) }],
    [{ fullName: 'a\u0000b' }],
    [{ fullName: 'a\nb' }],
    [{ fullName: 'a\u202eb' }],
    [{ fullName: 7 }],
    [{ birthDate: '2026-01-02' }],
    [{ birthDate: '1890-01-01' }],
    [{ birthDate: '1990-02-30' }],
    [{ birthDate: '1990-2-3' }],
    [{ birthDate: '+001990-02-03' }],
    [{ birthDate: 19900203 }],
    [{ country: 'de' }],
    [{ country: 'ZZ' }],
    [{ country: 'Germany' }],
    [{ registeredName: 'ACME' }],
    [{ owners: [] }],
    [{ unknown: 'x' }],
    [{ __proto__x: 'x' }],
  ])('of a person are refused: %j', (fields) => {
    expect(() => decode(fields)).toThrow(FieldInvalidError)
  })

  test.each<[object]>([
    [{ fullName: 'A' }],
    [{ registrationNumber: 'x'.repeat(65) }],
    [{ owners: [] }],
    [{ owners: 'A' }],
    [{ owners: [null] }],
    [{ owners: [{ name: 'A' }] }],
    [{ owners: [{ name: 'A', sharePercent: 0 }] }],
    [{ owners: [{ name: 'A', sharePercent: 50.5 }] }],
    [{ owners: [60, 41].map((sharePercent) => ({ name: 'A', sharePercent })) }],
    [{ owners: Array.from({ length: 21 }, () => ({ name: 'A', sharePercent: 1 })) }],
  ])('of a business are refused: %j', (fields) => {
    expect(() => decode(fields, 'kyb')).toThrow(FieldInvalidError)
  })

  test('include every country once', () => {
    expect([COUNTRY_CODES.length, new Set(COUNTRY_CODES).size]).toEqual([249, 249])
    expect(COUNTRY_CODES.every((code) => /^[A-Z]{2}$/.test(code))).toBe(true)
  })
})

test.each([
  ['passport.jpg', 'passport.jpg'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\me\\id.png', 'id.png'],
  ['a\u0000b\r\nc.pdf', 'abc.pdf'],
  ['\u202egnp.exe', 'gnp.exe'],
  ['', 'document'],
  ['..', 'document'],
  ['/', 'document'],
  ['x'.repeat(300), 'x'.repeat(100)],
])('the file name %p is stored as %p', (name, stored) => {
  expect(cleanFileName(name)).toBe(stored)
})

test('each level requires its own parts and those of lower levels', () => {
  const parts = (checkType: 'kyc' | 'kyb', level: 1 | 2 | 3) =>
    requirementsOf(checkType, level).map((part) => (part.part === 'field' ? part.name : part.kind))
  expect(parts('kyc', 1)).toEqual(['fullName', 'birthDate', 'country'])
  expect(parts('kyc', 2)).toEqual(['fullName', 'birthDate', 'country', 'identity-document', 'portrait'])
  expect(parts('kyc', 3)).toEqual([...parts('kyc', 2), 'proof-of-address'])
  expect(parts('kyb', 1)).toEqual(['registeredName', 'registrationNumber', 'country', 'registration-document'])
  expect(parts('kyb', 2)).toEqual(parts('kyb', 1))
  expect(parts('kyb', 3)).toEqual([...parts('kyb', 1), 'owners'])
})
