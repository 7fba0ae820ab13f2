// Times as callers write them.
import { FieldInvalidError } from '../domain/errors.ts'

// With a zone, or a day, which begins in UTC: never in the zone that the server happens to be in.
const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** Unix milliseconds. @throws FieldInvalidError */
export const timeOf = (name: string, text: string): number => {
  const milliseconds = TIME.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isSafeInteger(milliseconds) || milliseconds < 0) {
    throw new FieldInvalidError(name, 'must be a time, as 2027-01-31T12:00:00Z')
  }
  return milliseconds
}
