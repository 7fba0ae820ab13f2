// Additional members of the admin API's problems (RFC 9457 §3.2).
import { FieldInvalidError, FieldMissingError } from '../domain/errors.ts'
import { PolicyInvalidError, type PolicyIssue } from '../policy/issues.ts'
import { showIssues } from './policies/issue.ts'

interface FieldMembers {
  /** Path of the field: `name`, `rate_limit.burst`, `add[0].address`. */
  readonly field?: string
  readonly rule?: string
  /** Mistakes in a policy document, in the form of the `/policies/check` response. */
  readonly issues?: readonly PolicyIssue[]
}

/** Matches the path of a field, but not `the request` or `the query`. */
const PLACE = /^[A-Za-z_][\w.[\]]*$/

export const fieldMembers = (error: unknown): FieldMembers => {
  if (error instanceof PolicyInvalidError)
    return { field: 'source', rule: error.detail, issues: showIssues(error.issues) }
  if (error instanceof FieldMissingError && PLACE.test(error.field)) return { field: error.field, rule: 'is required' }
  if (error instanceof FieldInvalidError && PLACE.test(error.field)) return { field: error.field, rule: error.rule }
  return {}
}
