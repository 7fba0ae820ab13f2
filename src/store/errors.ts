// What the store can fail with. Callers see `detail` at most; SQL, paths and values stay in the cause.
import { CountersignError } from '../domain/errors.ts'

/** Locked for too long, disk full or failing, or closed: 503, nothing was written. */
export class StoreUnavailableError extends CountersignError {
  override readonly name = 'StoreUnavailableError'
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

/** A row that the schema refuses. */
export class ConstraintViolatedError extends Error {
  override readonly name = 'ConstraintViolatedError'
  readonly constraint: ConstraintKind
  readonly detail = 'the change conflicts with what is stored'
  constructor(constraint: ConstraintKind, cause?: unknown) {
    super(`a ${constraint} constraint was violated`, { cause })
    this.constraint = constraint
  }
}

/** A statement that can't run as written: a fault of this program. */
export class StoreStatementError extends Error {
  override readonly name = 'StoreStatementError'
  readonly detail = 'internal error'
  constructor(cause: unknown) {
    super('a statement failed', { cause })
  }
}

/** A transaction used in a way that would deadlock or split it: a fault of this program. */
export class TransactionMisuseError extends Error {
  override readonly name = 'TransactionMisuseError'
  readonly detail = 'internal error'
}

/** The store can't be opened as it is: one line for the operator, and the start stops. */
export class StoreUnusableError extends Error {
  override readonly name = 'StoreUnusableError'
  readonly detail: string
  constructor(detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause })
    this.detail = detail
  }
}
