import { CountersignError } from '../domain/errors.ts'
import { DetailedError, NamedError } from '../lib/named-error.ts'

export const LOG_NOT_WRITABLE = 'the decision log cannot be written, so no signature was returned'

/** The log can't be written, so the signature is discarded (invariant 2). Answered 503 (decisions §2). */
export class DecisionLogError extends CountersignError {
  /** Error code such as `ENOSPC`, or a short reason, for logs and operators. Contains no user text. */
  readonly reason: string

  constructor(reason: string, cause?: unknown) {
    super('DEPENDENCY_UNAVAILABLE', LOG_NOT_WRITABLE, {
      retryAfterSeconds: 1,
      ...(cause === undefined ? {} : { cause }),
    })
    this.reason = reason
  }
}

/** A line is damaged or was not written by this service. `detail` names the field, never its value. */
export class DecisionLineMalformedError extends DetailedError {}

export class SegmentCutError extends NamedError {
  constructor() {
    super('the segment was truncated during the read')
  }
}

export class DecisionDirectoryMissingError extends DetailedError {
  constructor(directory: string, cause?: unknown) {
    super(`no decision log found in ${directory}`, cause)
  }
}

/** Returns the code of a system error such as ENOSPC, or the class name of another error. Contains no user text. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown error'
  const code = (error as Error & { code?: unknown }).code
  return typeof code === 'string' ? code : error.name
}
