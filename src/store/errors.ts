import { CountersignError } from '../domain/errors.ts'
import { DetailedError, NamedError } from '../lib/named-error.ts'

/** The store is closed or was locked for too long, or its disk failed or is full. Status 503; nothing was written. */
export class StoreUnavailableError extends CountersignError {
  constructor(cause?: unknown) {
    super('DEPENDENCY_UNAVAILABLE', 'the store is unavailable; retry with exponential backoff', {
      cause,
      retryAfterSeconds: 1,
    })
  }
}

/** PostgreSQL is unreachable at startup. `reason` contains the host and the cause; show it only to the operator. */
export class StoreUnreachableError extends StoreUnavailableError {
  readonly reason: string
  constructor(reason: string, cause: unknown) {
    super(cause)
    this.reason = reason
  }
}

export type ConstraintKind = 'unique' | 'foreign-key' | 'check' | 'not-null' | 'type'

export class ConstraintViolatedError extends NamedError {
  readonly constraint: ConstraintKind
  readonly detail = 'the change conflicts with stored data'
  constructor(constraint: ConstraintKind, cause?: unknown) {
    super(`a ${constraint} constraint was violated`, { cause })
    this.constraint = constraint
  }
}

export class StoreStatementError extends NamedError {
  readonly detail = 'internal error'
  constructor(cause: unknown) {
    super('a statement failed', { cause })
  }
}

/** Use of a transaction that would deadlock or split it. */
export class TransactionMisuseError extends NamedError {
  readonly detail = 'internal error'
}

/** The store cannot be opened in its present state. `detail` is one line for the operator. */
export class StoreUnusableError extends DetailedError {}

/** `countersign migrate` moved the store; `detail` names the new store. */
export class StoreMovedError extends StoreUnusableError {}
