// Decodes entered fields strictly. Errors never repeat a value.
import { FieldInvalidError } from '../../domain/errors.ts'
import type { FieldName } from '../../domain/requirements.ts'
import type { CheckType } from '../../domain/session.ts'
import type { EvidenceFields, Owner } from '../evidence-types.ts'
import { isCountryCode } from './countries.ts'

const NAME_MAX = 200
const NUMBER_MAX = 64
const OWNERS_MAX = 20
const AGE_MAX_YEARS = 130

/** Control, bidirectional and zero-width characters, line and paragraph separators, lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u

/** Characters that NFC may compose into one, such as a letter with several marks. */
const COMPOSED_MAX = 4

const text = (name: string, value: unknown, maximum: number): string => {
  // Sorting the marks of a letter takes quadratic time, so long texts are rejected before normalization.
  const isReadable = typeof value === 'string' && value.length <= COMPOSED_MAX * maximum
  const normalised = isReadable ? value.normalize('NFC').trim() : ''
  if (normalised === '' || normalised.length > maximum || UNPRINTABLE.test(normalised)) {
    throw new FieldInvalidError(name, `must be 1 to ${maximum} characters without control characters`)
  }
  return normalised
}

const birthDate = (value: unknown, nowSeconds: number): string => {
  const wrong = new FieldInvalidError('birthDate', 'must be a past date, YYYY-MM-DD')
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) throw wrong
  const atMs = Date.parse(`${value}T00:00:00Z`)
  // Date.parse turns 30 February into a day in March or into NaN.
  if (Number.isNaN(atMs) || new Date(atMs).toISOString().slice(0, 10) !== value) throw wrong
  const now = new Date(nowSeconds * 1000)
  if (atMs > now.getTime() || now.getUTCFullYear() - Number(value.slice(0, 4)) > AGE_MAX_YEARS) throw wrong
  return value
}

const country = (value: unknown): string => {
  if (typeof value !== 'string' || !isCountryCode(value)) {
    throw new FieldInvalidError('country', 'must be a country code of two uppercase letters (ISO 3166-1)')
  }
  return value
}

const owners = (value: unknown): readonly Owner[] => {
  if (!Array.isArray(value) || value.length === 0 || value.length > OWNERS_MAX) {
    throw new FieldInvalidError('owners', `must contain 1 to ${OWNERS_MAX} owners`)
  }
  const list = value.map((item: unknown): Owner => {
    const { name, sharePercent } = (typeof item === 'object' && item !== null ? item : {}) as Record<string, unknown>
    if (typeof sharePercent !== 'number' || !Number.isInteger(sharePercent) || sharePercent < 1 || sharePercent > 100) {
      throw new FieldInvalidError('owners', 'must each have a share of 1 to 100 percent')
    }
    return { name: text('owners', name, NAME_MAX), sharePercent }
  })
  if (list.reduce((sum, { sharePercent }) => sum + sharePercent, 0) > 100) {
    throw new FieldInvalidError('owners', 'must have shares that add up to at most 100 percent')
  }
  return list
}

const DECODERS: { readonly [Name in FieldName]: (value: unknown, nowSeconds: number) => EvidenceFields[Name] } = {
  fullName: (value) => text('fullName', value, NAME_MAX),
  birthDate,
  country,
  registeredName: (value) => text('registeredName', value, NAME_MAX),
  registrationNumber: (value) => text('registrationNumber', value, NUMBER_MAX),
  owners,
}

const FIELDS_OF: Readonly<Record<CheckType, readonly FieldName[]>> = {
  kyc: ['fullName', 'birthDate', 'country'],
  kyb: ['registeredName', 'registrationNumber', 'country', 'owners'],
}

export const decodeFields = (input: object, checkType: CheckType, nowSeconds: number): EvidenceFields => {
  const allowed = FIELDS_OF[checkType]
  const decoded: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue
    const known = allowed.find((field) => field === name)
    if (known === undefined) throw new FieldInvalidError('fields', `are ${allowed.join(', ')}`)
    decoded[known] = DECODERS[known](value, nowSeconds)
  }
  return decoded as EvidenceFields
}

export const cleanFileName = (name: string): string => {
  const last = name.replaceAll('\\', '/').split('/').at(-1) ?? ''
  const printable = [...last.normalize('NFC')].filter((character) => !UNPRINTABLE.test(character))
  return printable.slice(0, 100).join('').replace(/^\.+/, '').trim() || 'document'
}
