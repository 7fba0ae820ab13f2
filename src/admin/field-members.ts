// What a problem of the admin API says beyond the others' (RFC 9457 §3.2): the one field that is at fault, so that a form
// can show it there, and every mistake of a policy's document. What is wrong with the request as a whole names none.
import { FieldInvalidError, FieldMissingError } from '../domain/errors.ts'
import { PolicyInvalidError, type PolicyIssue } from '../policy/errors.ts'
import { showIssues } from './policies/issue.ts'

export interface FieldMembers {
  /** Its place: `name`, `rate_limit.burst`, `add[0].address`. */
  readonly field?: string
  /** Requirement on the field, as a predicate: `must not be empty`. */
  readonly rule?: string
  /** The mistakes of a policy document that can't be saved, in the shape of the answer of `/policies/check`. */
  readonly issues?: readonly PolicyIssue[]
}

/** `the request` and `the query` are no fields. */
const PLACE = /^[A-Za-z_][\w.[\]]*$/

/** Empty where no single field is at fault. */
export const fieldMembers = (error: unknown): FieldMembers => {
  if (error instanceof PolicyInvalidError)
    return { field: 'source', rule: error.detail, issues: showIssues(error.issues) }
  if (error instanceof FieldMissingError && PLACE.test(error.field)) return { field: error.field, rule: 'is needed' }
  if (error instanceof FieldInvalidError && PLACE.test(error.field)) return { field: error.field, rule: error.rule }
  return {}
}
