// Client errors. Use their stable `code` instead of instanceof. Messages never contain keys or request data.

/** Codes of the service (docs/decisions.md §1, "Error body"). */
export type ServiceErrorCode =
  | 'MALFORMED_JSON'
  | 'DUPLICATE_KEY'
  | 'JSON_TOO_DEEP'
  | 'MISSING_REQUIRED_FIELD'
  | 'INVALID_FIELD'
  | 'AMBIGUOUS_TARGET'
  | 'INVALID_HEADER'
  | 'INVALID_REQUEST'
  | 'POLICY_NOT_FOUND'
  | 'UNSUPPORTED_CHAIN'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN_SCOPE'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'DEADLINE_EXCEEDED'
  | 'IDEMPOTENCY_IN_FLIGHT'
  | 'SESSION_CONFLICT'
  | 'SESSION_INCOMPLETE'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'IDEMPOTENCY_MISMATCH'
  | 'POLICY_FAILED'
  | 'RATE_LIMITED'
  | 'INTERNAL'
  | 'OVERLOADED'
  | 'DEPENDENCY_UNAVAILABLE'
  | 'SHUTTING_DOWN'

/** `UNKNOWN_REFUSAL`: an error response without a code, such as from a proxy. */
export type ClientErrorCode = 'ARGUMENT_INVALID' | 'SERVICE_UNREACHABLE' | 'ANSWER_INVALID' | 'UNKNOWN_REFUSAL'

/** A newer service may return codes that this version doesn't list. */
export type ErrorCode = ServiceErrorCode | ClientErrorCode | (string & {})

/** An aborted call throws its signal's reason instead. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError'
  readonly code: ErrorCode
  /** Null if no request was sent. */
  readonly requestId: string | null

  constructor(code: ErrorCode, message: string, requestId: string | null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.requestId = requestId
  }
}

/** Names the argument and the expected form, never the value. */
export class ArgumentInvalidError extends ClientError {
  override readonly name = 'ArgumentInvalidError'
  readonly argument: string

  constructor(argument: string, expected: string) {
    super('ARGUMENT_INVALID', `${argument} ${expected}`, null)
    this.argument = argument
  }
}

export interface Refusal {
  readonly code: ErrorCode
  readonly status: number
  readonly detail: string
  readonly requestId: string
  readonly retryAfterSeconds: number | null
}

/** The service returned an error. A denial by policy isn't an error. */
export class RequestRefusedError extends ClientError {
  override readonly name = 'RequestRefusedError'
  readonly status: number
  readonly detail: string
  readonly retryAfterSeconds: number | null

  constructor(refusal: Refusal) {
    const { code, status, detail, requestId } = refusal
    super(code, `${detail} (${code}, status ${status}, request ${requestId})`, requestId)
    this.status = status
    this.detail = detail
    this.retryAfterSeconds = refusal.retryAfterSeconds
  }
}

/** Network failure or timeout. The service may have processed the request. */
export class ServiceUnreachableError extends ClientError {
  override readonly name = 'ServiceUnreachableError'

  constructor(what: string, requestId: string, cause?: unknown) {
    super('SERVICE_UNREACHABLE', `${what} (request ${requestId})`, requestId, cause)
  }
}

/** The response isn't from this API: wrong URL, or a proxy that changed it. */
export class AnswerInvalidError extends ClientError {
  override readonly name = 'AnswerInvalidError'

  constructor(what: string, requestId: string, cause?: unknown) {
    super('ANSWER_INVALID', `the response is invalid: ${what} (request ${requestId})`, requestId, cause)
  }
}
