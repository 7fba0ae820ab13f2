// Validates the form with the server's rules (evidence/fields.ts).
import type { FieldName } from '../../../domain/requirements.ts'
import type { Messages } from '../messages/english.ts'
import type { Draft } from './draft.ts'

/** Keyed by input id, in form order. */
export type Problems = ReadonlyMap<string, string>

const NAME_MAX = 200
const NUMBER_MAX = 64
const AGE_MAX_YEARS = 130
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u

type Words = Messages['details']

const checkText = (text: string, maximum: number, missing: string, long: string, words: Words): string | null => {
  const trimmed = text.normalize('NFC').trim()
  if (trimmed === '') return missing
  if (trimmed.length > maximum) return long
  return UNPRINTABLE.test(trimmed) ? words.characters : null
}

const checkDate = ({ day, month, year }: Pick<Draft, 'day' | 'month' | 'year'>, now: Date, words: Words) => {
  if (day.trim() === '' || month.trim() === '' || year.trim() === '') return words.dateMissing
  const [d, m, y] = [Number(day), Number(month), Number(year)]
  if (!/^\d{1,2}$/.test(day.trim()) || !/^\d{4}$/.test(year.trim())) return words.dateInvalid
  const at = new Date(Date.UTC(y, m - 1, d))
  if (at.getUTCFullYear() !== y || at.getUTCMonth() !== m - 1 || at.getUTCDate() !== d) return words.dateInvalid
  if (at.getTime() > now.getTime()) return words.dateFuture
  return now.getUTCFullYear() - y > AGE_MAX_YEARS ? words.dateOld : null
}

const checkOwners = (draft: Draft, words: Words): ReadonlyMap<string, string> => {
  const problems = new Map<string, string>()
  let sum = 0
  let named = 0
  for (const [index, { name, share }] of draft.owners.entries()) {
    // An empty row isn't an owner, unless it is the only row.
    if (name.trim() === '' && share.trim() === '' && draft.owners.length > 1) continue
    named += 1
    const wrongName = checkText(name, NAME_MAX, words.nameMissing, words.nameLong, words)
    if (wrongName !== null) problems.set(`owner-name-${index}`, wrongName)
    const percent = /^\d{1,3}$/.test(share.trim()) ? Number(share) : 0
    if (percent < 1 || percent > 100) problems.set(`owner-share-${index}`, words.shareInvalid)
    sum += percent
  }
  if (named === 0) problems.set('owner-name-0', words.ownersMissing)
  if (sum > 100 && problems.size === 0) problems.set('owner-share-0', words.sharesOver)
  return problems
}

export const checkDraft = (draft: Draft, names: readonly FieldName[], now: Date, words: Words): Problems => {
  const problems = new Map<string, string>()
  const note = (id: string, problem: string | null): void => {
    if (problem !== null) problems.set(id, problem)
  }
  for (const name of names) {
    if (name === 'fullName') note(name, checkText(draft.fullName, NAME_MAX, words.nameMissing, words.nameLong, words))
    if (name === 'birthDate') note('birth-day', checkDate(draft, now, words))
    if (name === 'country' && draft.country === '') note(name, words.countryMissing)
    if (name === 'registeredName') {
      note(name, checkText(draft.registeredName, NAME_MAX, words.nameMissing, words.nameLong, words))
    }
    if (name === 'registrationNumber') {
      note(name, checkText(draft.registrationNumber, NUMBER_MAX, words.numberMissing, words.numberLong, words))
    }
    if (name === 'owners') for (const [id, problem] of checkOwners(draft, words)) problems.set(id, problem)
  }
  return problems
}
