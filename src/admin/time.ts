import { FieldInvalidError } from '../domain/errors.ts'
import type { Clock } from '../lib/time.ts'

// A time requires its zone. A date alone means the start of that day in UTC.
const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** Returns Unix milliseconds. @throws FieldInvalidError */
export const timeOf = (name: string, text: string): number => {
  const milliseconds = TIME.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isSafeInteger(milliseconds) || milliseconds < 0) {
    throw new FieldInvalidError(name, 'must be a time such as 2027-01-31T12:00:00Z')
  }
  return milliseconds
}

/**
 * Returns the exclusive end in Unix milliseconds. The default includes the current second. @throws FieldInvalidError
 */
export const endOf = (text: string | undefined, clock: Clock): number =>
  text === undefined ? (clock.unixSeconds() + 1) * 1_000 : timeOf('until', text)
