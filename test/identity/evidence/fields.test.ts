// What may be typed in, and what is refused without being repeated.
import { describe, expect, test } from 'bun:test'
import { FieldInvalidError } from '../../../src/domain/errors.ts'
import { requirementsOf } from '../../../src/domain/requirements.ts'
import { COUNTRY_CODES } from '../../../src/identity/evidence/countries.ts'
import { cleanFileName, decodeFields } from '../../../src/identity/evidence/fields.ts'
import { START_SECONDS } from '../../store/temporary-store.ts'

const decode = (fields: object, checkType: 'kyc' | 'kyb' = 'kyc') => decodeFields(fields, checkType, START_SECONDS)

describe('fields', () => {
  test('are kept as they are meant: trimmed, in one normal form', () => {
    expect(decode({ fullName: '  Zoë\u0308 Ångström ', birthDate: '1990-02-28', country: 'DE' })).toEqual({
      fullName: 'Zoë\u0308 Ångström'.normalize('NFC'),
      birthDate: '1990-02-28',
      country: 'DE',
    })
    expect(decode({ fullName: 'x'.repeat(200) }).fullName).toHaveLength(200)
    // Four code points that become one.
    expect(decode({ fullName: '\u03b1\u0313\u0300\u0345'.repeat(200) }).fullName).toHaveLength(200)
    expect(decode({})).toEqual({})
    expect(
      decode(
        {
          registeredName: 'ACME GmbH',
          registrationNumber: 'HRB 1',
          owners: [{ name: 'A', sharePercent: 51, extra: 1 }],
        },
        'kyb',
      ),
    ).toEqual({ registeredName: 'ACME GmbH', registrationNumber: 'HRB 1', owners: [{ name: 'A', sharePercent: 51 }] })
  })

  const wrongOfPerson: readonly object[] = [
    { fullName: '' },
    { fullName: '   ' },
    { fullName: 'x'.repeat(201) },
    { fullName: 'a\u0000b' },
    { fullName: 'a\nb' },
    { fullName: 'a\u202eb' },
    { fullName: 7 },
    { birthDate: '2026-01-02' },
    { birthDate: '1890-01-01' },
    { birthDate: '1990-02-30' },
    { birthDate: '1990-2-3' },
    { birthDate: '+001990-02-03' },
    { birthDate: 19900203 },
    { country: 'de' },
    { country: 'ZZ' },
    { country: 'Germany' },
    { registeredName: 'ACME' },
    { owners: [] },
    { unknown: 'x' },
    { __proto__x: 'x' },
  ]
  for (const [index, fields] of wrongOfPerson.entries()) {
    test(`of a person that are refused: ${index + 1}, ${Object.keys(fields)[0]}`, () => {
      expect(() => decode(fields)).toThrow(FieldInvalidError)
    })
  }

  const wrongOfBusiness: readonly object[] = [
    { fullName: 'A' },
    { registrationNumber: 'x'.repeat(65) },
    { owners: [] },
    { owners: 'A' },
    { owners: [null] },
    { owners: [{ name: 'A' }] },
    { owners: [{ name: 'A', sharePercent: 0 }] },
    { owners: [{ name: 'A', sharePercent: 50.5 }] },
    { owners: [60, 41].map((sharePercent) => ({ name: 'A', sharePercent })) },
    { owners: Array.from({ length: 21 }, () => ({ name: 'A', sharePercent: 1 })) },
  ]
  for (const [index, fields] of wrongOfBusiness.entries()) {
    test(`of a business that are refused: ${index + 1}, ${Object.keys(fields)[0]}`, () => {
      expect(() => decode(fields, 'kyb')).toThrow(FieldInvalidError)
    })
  }

  test('name every country once', () => {
    expect(COUNTRY_CODES.length).toBe(249)
    expect(new Set(COUNTRY_CODES).size).toBe(249)
    expect(COUNTRY_CODES.every((code) => /^[A-Z]{2}$/.test(code))).toBe(true)
  })
})

describe('file names', () => {
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
  ])('%p is shown as %p', (name, shown) => {
    expect(cleanFileName(name)).toBe(shown)
  })
})

describe('what a level asks for', () => {
  const parts = (checkType: 'kyc' | 'kyb', level: 1 | 2 | 3) =>
    requirementsOf(checkType, level).map((part) => (part.part === 'field' ? part.name : part.kind))

  test('of a person', () => {
    expect(parts('kyc', 1)).toEqual(['fullName', 'birthDate', 'country'])
    expect(parts('kyc', 2)).toEqual(['fullName', 'birthDate', 'country', 'identity-document', 'portrait'])
    expect(parts('kyc', 3)).toEqual([...parts('kyc', 2), 'proof-of-address'])
  })

  test('of a business', () => {
    expect(parts('kyb', 1)).toEqual(['registeredName', 'registrationNumber', 'country', 'registration-document'])
    expect(parts('kyb', 2)).toEqual(parts('kyb', 1))
    expect(parts('kyb', 3)).toEqual([...parts('kyb', 1), 'owners'])
  })
})
