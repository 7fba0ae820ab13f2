// Maps PostgreSQL's error codes to store errors. Server messages may contain values, so they stay in the cause.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
import { SQL } from 'bun'
import { NamedError } from '../../lib/named-error.ts'
import {
  type ConstraintKind,
  ConstraintViolatedError,
  StoreStatementError,
  StoreUnavailableError,
  StoreUnusableError,
} from '../errors.ts'

const CONSTRAINTS: Readonly<Record<string, ConstraintKind>> = {
  '23505': 'unique',
  '23503': 'foreign-key',
  '23502': 'not-null',
}

/** Error classes of a server that is starting, stopping, full or out of time. */
const UNAVAILABLE_CLASSES: ReadonlySet<string> = new Set(['08', '53', '57', '58', 'F0', 'XX'])
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set([
  '0A000', // a prepared statement's columns have changed: another node has migrated
  '25006', // read_only_sql_transaction: the server has become a standby
  '26000', // a prepared statement is gone: a balancer gave the session another connection
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available
])

/** The connection is no longer usable: 25P03 and 25P04 mean that the server has closed it. */
const ENDING_CODES: ReadonlySet<string> = new Set(['0A000', '25006', '25P03', '25P04', '26000'])

export class ConnectionLostError extends NamedError {}

export class CertificateRefusedError extends ConnectionLostError {}

export class AuthorityUnreadableError extends ConnectionLostError {}

/** TLS is required, but the server, or an attacker in between, reports that it is unavailable. */
export class TlsMissingError extends ConnectionLostError {}

/** Returns undefined if the error is not from the server. */
export const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof SQL.PostgresError && typeof error.errno === 'string' ? error.errno : undefined

/** Returns true if the transaction conflicted with another and can be repeated. */
export const isConflict = (error: unknown): boolean => {
  const state = sqlStateOf(error)
  return state === '40001' || state === '40P01'
}

export const endsConnection = (error: unknown): boolean => {
  const state = sqlStateOf(error)
  if (state === undefined) return error instanceof SQL.PostgresError || error instanceof ConnectionLostError
  return ENDING_CODES.has(state) || state.startsWith('57P') || state.startsWith('08')
}

export const toStoreError = (error: unknown): unknown => {
  if (error instanceof ConnectionLostError) return new StoreUnavailableError(error)
  if (!(error instanceof SQL.PostgresError)) return error
  const state = sqlStateOf(error)
  if (state === undefined) return new StoreUnavailableError(error)
  const group = state.slice(0, 2)
  if (group === '23') return new ConstraintViolatedError(CONSTRAINTS[state] ?? 'check', error)
  // Data exceptions: for example, text in place of an integer.
  if (group === '22') return new ConstraintViolatedError('type', error)
  const unavailable = UNAVAILABLE_CLASSES.has(group) || UNAVAILABLE_CODES.has(state)
  return unavailable ? new StoreUnavailableError(error) : new StoreStatementError(error)
}

/** Converts errors that a retry cannot fix: wrong password, missing database, missing rights, certificates. */
export const toUnusableError = (store: string, error: unknown): StoreUnusableError | null => {
  const state = sqlStateOf(error)
  if (state?.startsWith('28') === true) {
    return new StoreUnusableError(`${store} rejects the user or the password in the store setting`, error)
  }
  if (error instanceof CertificateRefusedError) {
    return new StoreUnusableError(`the certificate of ${store} does not satisfy sslmode and sslrootcert`, error)
  }
  if (error instanceof AuthorityUnreadableError) {
    return new StoreUnusableError('the sslrootcert file in the store setting cannot be read', error)
  }
  if (error instanceof TlsMissingError) {
    return new StoreUnusableError(
      `${store} does not support TLS, which is required: enable TLS on the server or, in a private network, set sslmode=disable in the store setting`,
      error,
    )
  }
  if (state === '3D000') return new StoreUnusableError(`${store} does not exist: create the database first`, error)
  if (state === '42501')
    return new StoreUnusableError(`the user of ${store} has no permission to create or change tables`, error)
  return null
}
