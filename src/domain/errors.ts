// Errors that callers may see. `detail` is predefined text for the caller; the cause stays internal. A denial is never
// an error (invariant 1): it is a Verdict.

import { DetailedError } from '../lib/named-error.ts'
import type { ProcessRole } from './process-role.ts'

/** All stable codes of the error body and their HTTP status. Source: decisions §1, RFC 9457. */
export const ERROR_STATUS = {
  MALFORMED_JSON: 400,
  DUPLICATE_KEY: 400,
  JSON_TOO_DEEP: 400,
  MISSING_REQUIRED_FIELD: 400,
  INVALID_FIELD: 400,
  AMBIGUOUS_TARGET: 400,
  INVALID_HEADER: 400,
  INVALID_REQUEST: 400,
  POLICY_NOT_FOUND: 400,
  UNSUPPORTED_CHAIN: 400,
  UNAUTHENTICATED: 401,
  SECOND_FACTOR_REQUIRED: 401,
  CREDENTIAL_WRONG: 401,
  SECOND_FACTOR_MISSING: 403,
  CONFIRMATION_REQUIRED: 403,
  FORBIDDEN_SCOPE: 403,
  FORBIDDEN_ROLE: 403,
  FORBIDDEN_ORIGIN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  DEADLINE_EXCEEDED: 408,
  APPROVAL_REQUIRED: 409,
  IDEMPOTENCY_IN_FLIGHT: 409,
  SESSION_CONFLICT: 409,
  SESSION_INCOMPLETE: 409,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  POLICY_FAILED: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  OVERLOADED: 503,
  DEPENDENCY_UNAVAILABLE: 503,
  SHUTTING_DOWN: 503,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

export interface CountersignErrorOptions {
  /** The original error. Only its class is logged: its text is never sent or logged. */
  readonly cause?: unknown
  /** Seconds for `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** The request is known to have left no signature and no decision record: it may be repeated with another uuid. */
  readonly nothingSigned?: boolean
}

/** The base class of all errors whose text a caller may see. */
export class CountersignError extends DetailedError {
  readonly code: ErrorCode
  readonly retryAfterSeconds: number | undefined
  readonly nothingSigned: boolean

  constructor(code: ErrorCode, detail: string, options: CountersignErrorOptions = {}) {
    super(detail, options.cause)
    this.code = code
    this.retryAfterSeconds = options.retryAfterSeconds
    this.nothingSigned = options.nothingSigned ?? false
  }
}

/**
 * Returns the base class of an error with a constant code and text: `class LinkUnknownError extends fixedError(…) {}`.
 */
export const fixedError = (code: ErrorCode, detail: string, options: CountersignErrorOptions = {}) =>
  class extends CountersignError {
    constructor() {
      super(code, detail, options)
    }
  }

/** Spec, Errors row 2. */
export class FieldMissingError extends CountersignError {
  readonly field: string
  constructor(field: string) {
    super('MISSING_REQUIRED_FIELD', `Missing required field: ${field}`)
    this.field = field
  }
}

/** A field is present but invalid. `rule` describes what is expected, never what was sent. */
export class FieldInvalidError extends CountersignError {
  readonly field: string
  readonly rule: string
  constructor(field: string, rule: string) {
    super('INVALID_FIELD', `request validation failed: ${field} ${rule}`)
    this.field = field
    this.rule = rule
  }
}

/** Spec, Errors row 3. `value` is the chain id (v1) or the chain name (v2), truncated to a readable length. */
export class ChainUnsupportedError extends CountersignError {
  /** Names of similar supported chains. Not part of the text, which clients compare. */
  readonly near: readonly string[]
  constructor(value: string, near: readonly string[] = []) {
    super('UNSUPPORTED_CHAIN', `unsupported chain ID ${value}`)
    this.near = near
  }
}

/** Spec, Errors row 1: there is no policy for the address (or, for a project, the verification hash). */
export class PolicyMissingError extends CountersignError {
  constructor(kind: 'address' | 'verification hash', value: string) {
    super('POLICY_NOT_FOUND', `request validation failed: failed to get policy ID for ${kind} ${value}`)
  }
}

/** A test key requests something that a live chain would accept (403). */
export class TestKeyOnLiveChainError extends fixedError(
  'FORBIDDEN_SCOPE',
  'a test key gets no tasks, and attestations for test networks only: use a live key',
) {}

/** Spec, Errors row 5. */
export class DeadlineExceededError extends CountersignError {
  constructor(options: Pick<CountersignErrorOptions, 'nothingSigned'> = {}) {
    super('DEADLINE_EXCEEDED', 'validation took longer than the deadline; retry with exponential backoff', options)
  }
}

/** A part required for the answer is unavailable: no verdict and no signature (decisions §2). */
export class DependencyUnavailableError extends CountersignError {
  constructor(detail: string, options: CountersignErrorOptions = {}) {
    super('DEPENDENCY_UNAVAILABLE', detail, { retryAfterSeconds: 1, ...options })
  }
}

/**
 * Data sealed with an organization's key cannot be stored, because the key was replaced in the meantime (503). Sealing
 * it again works.
 */
export class OrganizationKeyExchangedError extends fixedError(
  'OVERLOADED',
  'the organization’s key was just replaced; try again',
  { retryAfterSeconds: 1 },
) {}

/** Another process of the deployment serves this (409: a retry here does not help). */
export class RoleNotServedError extends CountersignError {
  constructor(role: ProcessRole) {
    super(
      'CONFLICT',
      `this process does not serve ${role}, which this needs: use a process whose setting “serve” includes ${role}`,
    )
  }
}

/** A full queue rejects requests immediately (invariant 8). */
export class QueueFullError extends CountersignError {
  constructor(retryAfterSeconds = 1) {
    super('OVERLOADED', 'the service is at capacity; retry with exponential backoff', { retryAfterSeconds })
  }
}
