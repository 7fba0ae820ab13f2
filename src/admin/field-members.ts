// What a problem of the admin API says beyond the others' (RFC 9457 §3.2): the one field that is at fault, so that a form
// can show it there. What is wrong with the request as a whole names none.
import { FieldInvalidError, FieldMissingError } from '../domain/errors.ts'

export interface FieldMembers {
  /** Its place: `name`, `rate_limit.burst`, `add[0].address`. */
  readonly field?: string
  /** What is expected of it, as a predicate: `must not be empty`. */
  readonly rule?: string
}

/** `the request` and `the query` are no fields. */
const PLACE = /^[A-Za-z_][\w.[\]]*$/

/** Empty where no single field is at fault. */
export const fieldMembers = (error: unknown): FieldMembers => {
  if (error instanceof FieldMissingError && PLACE.test(error.field)) return { field: error.field, rule: 'is needed' }
  if (error instanceof FieldInvalidError && PLACE.test(error.field)) return { field: error.field, rule: error.rule }
  return {}
}
