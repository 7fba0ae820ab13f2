// What can go wrong with the decision log. Callers of the API see one chosen sentence; the cause stays inside.
import { CountersignError } from '../domain/errors.ts'
import { DetailedError, NamedError } from '../lib/named-error.ts'

/** The log can't be written: nothing may be signed or answered (invariant 2). Answered 503 (decisions §2). */
export class DecisionLogError extends CountersignError {
  /** For the log and the operator, without user text: an error code such as `ENOSPC`, or a short reason. */
  readonly reason: string

  constructor(reason: string, cause?: unknown) {
    super('DEPENDENCY_UNAVAILABLE', 'the decision log cannot be written; nothing was signed', {
      retryAfterSeconds: 1,
      ...(cause === undefined ? {} : { cause }),
    })
    this.reason = reason
  }
}

/** A line that this service did not write, or that was damaged since. `detail` names the field, never its value. */
export class DecisionLineMalformedError extends DetailedError {}

/** A segment ended before the length it was seen to have: someone cut it while it was read. */
export class SegmentCutError extends NamedError {
  constructor() {
    super('the segment became shorter while it was read')
  }
}

/** There is no decision log where one was expected. */
export class DecisionDirectoryMissingError extends DetailedError {
  constructor(directory: string, cause?: unknown) {
    super(`there is no decision log in ${directory}`, cause)
  }
}

/** The `code` of a system error such as ENOSPC, else the error's class: neither carries user text. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown error'
  const code = (error as Error & { code?: unknown }).code
  return typeof code === 'string' ? code : error.name
}
