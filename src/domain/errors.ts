// Errors for callers. `detail` is predefined text for the caller; the cause stays internal. A denial is a Verdict,
// never an error (invariant 1).

import { DetailedError } from '../lib/named-error.ts'
import type { ProcessRole } from './process-role.ts'

export const ERRORS = {
  MALFORMED_JSON: { status: 400, title: 'Malformed JSON' },
  DUPLICATE_KEY: { status: 400, title: 'Duplicate JSON key' },
  JSON_TOO_DEEP: { status: 400, title: 'JSON nested too deep' },
  MISSING_REQUIRED_FIELD: { status: 400, title: 'Missing required field' },
  INVALID_FIELD: { status: 400, title: 'Invalid field' },
  AMBIGUOUS_TARGET: { status: 400, title: 'Ambiguous target' },
  INVALID_HEADER: { status: 400, title: 'Invalid header' },
  INVALID_REQUEST: { status: 400, title: 'Invalid request' },
  POLICY_NOT_FOUND: { status: 400, title: 'Policy not found' },
  UNSUPPORTED_CHAIN: { status: 400, title: 'Unsupported chain' },
  UNAUTHENTICATED: { status: 401, title: 'Unauthenticated' },
  SECOND_FACTOR_REQUIRED: { status: 401, title: 'Second factor required' },
  CREDENTIAL_WRONG: { status: 401, title: 'Credential wrong' },
  SECOND_FACTOR_MISSING: { status: 403, title: 'Second factor missing' },
  CONFIRMATION_REQUIRED: { status: 403, title: 'Confirmation required' },
  FORBIDDEN_SCOPE: { status: 403, title: 'Forbidden' },
  FORBIDDEN_ROLE: { status: 403, title: 'Forbidden' },
  FORBIDDEN_ORIGIN: { status: 403, title: 'Forbidden' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  DEADLINE_EXCEEDED: { status: 408, title: 'Deadline exceeded' },
  APPROVAL_REQUIRED: { status: 409, title: 'Approval required' },
  IDEMPOTENCY_IN_FLIGHT: { status: 409, title: 'Request in flight' },
  SESSION_CONFLICT: { status: 409, title: 'Session conflict' },
  SESSION_INCOMPLETE: { status: 409, title: 'Session incomplete' },
  CONFLICT: { status: 409, title: 'Conflict' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'Payload too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Unsupported media type' },
  IDEMPOTENCY_MISMATCH: { status: 422, title: 'Idempotency key used with a different request' },
  POLICY_FAILED: { status: 422, title: 'Policy failed' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  INTERNAL: { status: 500, title: 'Internal error' },
  OVERLOADED: { status: 503, title: 'Overloaded' },
  DEPENDENCY_UNAVAILABLE: { status: 503, title: 'Dependency unavailable' },
  SHUTTING_DOWN: { status: 503, title: 'Shutting down' },
} as const

export type ErrorCode = keyof typeof ERRORS

export interface CountersignErrorOptions {
  /** Only its class is logged; its text is never sent or logged. */
  readonly cause?: unknown
  /** Seconds for `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** No signature or decision record was created, so the request can be repeated with another uuid. */
  readonly nothingSigned?: boolean
}

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

/** Base class of errors with a constant text: `class LinkUnknownError extends fixedError(…) {}`. */
export const fixedError = (code: ErrorCode, detail: string, options: CountersignErrorOptions = {}) =>
  class extends CountersignError {
    constructor() {
      super(code, detail, options)
    }
  }

/** Missing field (spec, Errors row 2). */
export class FieldMissingError extends CountersignError {
  readonly field: string
  constructor(field: string) {
    super('MISSING_REQUIRED_FIELD', `Missing required field: ${field}`)
    this.field = field
  }
}

/** `rule` describes the expected value and never repeats the input. */
export class FieldInvalidError extends CountersignError {
  readonly field: string
  readonly rule: string
  constructor(field: string, rule: string) {
    super('INVALID_FIELD', `request validation failed: ${field} ${rule}`)
    this.field = field
    this.rule = rule
  }
}

/** Spec, Errors row 3. `value`: chain id (v1) or name (v2), shortened. */
export class ChainUnsupportedError extends CountersignError {
  /** Similar names of supported chains. Not in the text, because clients compare it. */
  readonly near: readonly string[]
  constructor(value: string, near: readonly string[] = []) {
    super('UNSUPPORTED_CHAIN', `unsupported chain ID ${value}`)
    this.near = near
  }
}

/** Spec, Errors row 1: the address or verification hash has no policy. */
export class PolicyMissingError extends CountersignError {
  constructor(kind: 'address' | 'verification hash', value: string) {
    super('POLICY_NOT_FOUND', `request validation failed: failed to get policy ID for ${kind} ${value}`)
  }
}

/** A test key requests a result that live chains accept (403). */
export class TestKeyOnLiveChainError extends fixedError(
  'FORBIDDEN_SCOPE',
  'a test key cannot create tasks, and can create attestations only for test networks: use a live key',
) {}

/** Deadline that was exceeded (spec, Errors row 5). */
export class DeadlineExceededError extends CountersignError {
  constructor(options: Pick<CountersignErrorOptions, 'nothingSigned'> = {}) {
    super('DEADLINE_EXCEEDED', 'validation took longer than the deadline; retry with exponential backoff', options)
  }
}

/** A required part is unavailable: no verdict and no signature (decisions §2). */
export class DependencyUnavailableError extends CountersignError {
  constructor(detail: string, options: CountersignErrorOptions = {}) {
    super('DEPENDENCY_UNAVAILABLE', detail, { retryAfterSeconds: 1, ...options })
  }
}

/**
 * The organization's key was replaced before data sealed with it was stored (503). The caller can seal the data again.
 */
export class OrganizationKeyExchangedError extends fixedError(
  'OVERLOADED',
  'the organization’s key was replaced during the request; retry',
  { retryAfterSeconds: 1 },
) {}

/** Another process serves this role. The status is 409, because a retry at this process doesn't help. */
export class RoleNotServedError extends CountersignError {
  constructor(role: ProcessRole) {
    super(
      'CONFLICT',
      `this request requires a process that serves ${role}: use a process whose “serve” setting includes ${role}`,
    )
  }
}

/** A full queue rejects requests immediately (invariant 8). */
export class QueueFullError extends CountersignError {
  constructor(retryAfterSeconds = 1) {
    super('OVERLOADED', 'the service is at capacity; retry with exponential backoff', { retryAfterSeconds })
  }
}
