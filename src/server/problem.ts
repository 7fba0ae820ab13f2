// Maps every error to an RFC 9457 problem with constant texts (decisions §1).
import { ChainUnsupportedError, CountersignError, ERRORS, type ErrorCode } from '../domain/errors.ts'

/** `message` and `error` repeat `detail`, because existing clients read one of them. */
export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ErrorCode
  readonly request_id: string
  readonly message: string
  readonly error: string
  /** Similar names, for an unsupported chain. */
  readonly did_you_mean?: readonly string[]
}

export interface Problem {
  readonly code: ErrorCode
  readonly status: number
  readonly detail: string
  readonly retryAfterSeconds: number | null
  readonly near?: readonly string[]
}

/** Returns an identifier that cannot be resolved and is independent of any host (RFC 9457 §3.1.1). */
export const problemType = (code: ErrorCode): string =>
  `urn:countersign:problem:${code.toLowerCase().replaceAll('_', '-')}`

/** The failure itself is in the log, under the request id. */
const INTERNAL_DETAIL = 'an internal error occurred; contact the operator with the request id'
const RETRY_AFTER_SECONDS = 1

/**
 * Returns the public part of any thrown value. Every 429 and 503 has a Retry-After, so that clients always back off.
 */
export const toProblem = (error: unknown): Problem => {
  if (!(error instanceof CountersignError)) {
    return { code: 'INTERNAL', status: ERRORS.INTERNAL.status, detail: INTERNAL_DETAIL, retryAfterSeconds: null }
  }
  const status = ERRORS[error.code].status
  const backsOff = status === 429 || status === 503
  return {
    code: error.code,
    status,
    detail: error.detail,
    retryAfterSeconds: error.retryAfterSeconds ?? (backsOff ? RETRY_AFTER_SECONDS : null),
    ...(error instanceof ChainUnsupportedError && error.near.length > 0 ? { near: error.near } : {}),
  }
}

export const problemBody = (problem: Problem, requestId: string): ProblemBody => ({
  type: problemType(problem.code),
  title: ERRORS[problem.code].title,
  status: problem.status,
  detail: problem.detail,
  code: problem.code,
  request_id: requestId,
  message: problem.detail,
  error: problem.detail,
  ...(problem.near === undefined ? {} : { did_you_mean: problem.near }),
})
