// Errors of the store. Callers see only `detail`; SQL, paths and values stay in the cause.
import { CountersignError } from '../domain/errors.ts'
import { DetailedError, NamedError } from '../lib/named-error.ts'

/** The store is locked for too long, the disk is full or failing, or the store is closed: 503, nothing was written. */
export class StoreUnavailableError extends CountersignError {
  constructor(cause?: unknown) {
    super('DEPENDENCY_UNAVAILABLE', 'the store is unavailable; retry with exponential backoff', {
      cause,
      retryAfterSeconds: 1,
    })
  }
}

/** PostgreSQL can't be reached at the start. `reason` names host and cause, for the operator alone. */
export class StoreUnreachableError extends StoreUnavailableError {
  readonly reason: string
  constructor(reason: string, cause: unknown) {
    super(cause)
    this.reason = reason
  }
}

export type ConstraintKind = 'unique' | 'foreign-key' | 'check' | 'not-null' | 'type'

/** The schema refuses a row. */
export class ConstraintViolatedError extends NamedError {
  readonly constraint: ConstraintKind
  readonly detail = 'the change conflicts with what is stored'
  constructor(constraint: ConstraintKind, cause?: unknown) {
    super(`a ${constraint} constraint was violated`, { cause })
    this.constraint = constraint
  }
}

/** A statement can't run as written: a bug in this program. */
export class StoreStatementError extends NamedError {
  readonly detail = 'internal error'
  constructor(cause: unknown) {
    super('a statement failed', { cause })
  }
}

/** A transaction was used in a way that would deadlock or split it: a bug in this program. */
export class TransactionMisuseError extends NamedError {
  readonly detail = 'internal error'
}

/** The store can't be opened in its present state: one line for the operator, and the start ends. */
export class StoreUnusableError extends DetailedError {}
