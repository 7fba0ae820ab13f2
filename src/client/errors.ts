// What the client throws. Every error has a stable `code`, so that callers can tell them apart without instanceof, and
// the id under which the service's log knows the call. No message holds a key or what was sent.

/** The service's codes (docs/decisions.md §1, "Error body"). */
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
  | 'RATE_LIMITED'
  | 'INTERNAL'
  | 'OVERLOADED'
  | 'DEPENDENCY_UNAVAILABLE'
  | 'SHUTTING_DOWN'

/** What the client itself finds. `UNKNOWN_REFUSAL`: an error without a code, as a proxy in between answers. */
export type ClientErrorCode = 'ARGUMENT_INVALID' | 'SERVICE_UNREACHABLE' | 'ANSWER_INVALID' | 'UNKNOWN_REFUSAL'

/** Any code; a newer service may have codes that this version does not list. */
export type ErrorCode = ServiceErrorCode | ClientErrorCode | (string & {})

/** The base of everything thrown here. An aborted call throws its signal's reason instead. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError'
  readonly code: ErrorCode
  /** Null when nothing was sent. */
  readonly requestId: string | null

  constructor(code: ErrorCode, message: string, requestId: string | null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.requestId = requestId
  }
}

/** An argument that can't be used. The message names it and says what is expected, never what it held. */
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
  /** The service's words, meant for developers. */
  readonly detail: string
  readonly requestId: string
  /** From `Retry-After`; null without one. */
  readonly retryAfterSeconds: number | null
}

/** The service answered with an error. A denial by policy is none. */
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

/** No answer: the network failed, or it took too long. Whether the service acted on the request is not known. */
export class ServiceUnreachableError extends ClientError {
  override readonly name = 'ServiceUnreachableError'

  constructor(what: string, requestId: string, cause?: unknown) {
    super('SERVICE_UNREACHABLE', `${what} (request ${requestId})`, requestId, cause)
  }
}

/** An answer that is not what this API answers: a wrong address, or something in between that changed it. */
export class AnswerInvalidError extends ClientError {
  override readonly name = 'AnswerInvalidError'

  constructor(what: string, requestId: string, cause?: unknown) {
    super('ANSWER_INVALID', `the answer is not usable: ${what} (request ${requestId})`, requestId, cause)
  }
}
