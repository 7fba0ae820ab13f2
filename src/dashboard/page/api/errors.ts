// What a call to the admin API can fail with, and what people are told about it.
import { counted } from '../../../lib/counted.ts'

/** As the server names it: `rate_limit.burst` must be a whole number. */
export interface FieldFault {
  readonly name: string
  readonly rule: string
}

interface ApiErrorDetails {
  readonly retryAfterSeconds?: number | null
  readonly field?: FieldFault | null
}

/** The server refused: a problem of RFC 9457. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** Stable; empty where the answer was none of ours. */
  readonly code: string
  readonly detail: string
  readonly requestId: string
  /** Null: not said. */
  readonly retryAfterSeconds: number | null
  /** The one field that is at fault; null: no single one is. */
  readonly field: FieldFault | null
  constructor(
    status: number,
    code: string,
    detail: string,
    requestId: string,
    { retryAfterSeconds = null, field = null }: ApiErrorDetails = {},
  ) {
    super(detail)
    this.status = status
    this.code = code
    this.detail = detail
    this.requestId = requestId
    this.retryAfterSeconds = retryAfterSeconds
    this.field = field
  }
}

/** The server was not reached, or its answer was cut off: a change may or may not have been made. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
}

/** A second person has to approve it: nothing has changed yet. */
export class WaitsForApproval extends Error {
  override readonly name = 'WaitsForApproval'
}

/** It would wait for a second person, and nobody asked for that after all. */
export const APPROVAL_REQUIRED = 'APPROVAL_REQUIRED'

/** The person was asked for a passkey and gave none, or the browser has none: it does not say which. */
export class PasskeyRefusedError extends Error {
  override readonly name = 'PasskeyRefusedError'
}

/** The field that a problem names, and what is expected of it. */
export interface FieldProblem {
  readonly field: string
  readonly text: string
}

const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
const sentence = (text: string): string => ended(text.charAt(0).toUpperCase() + text.slice(1))

/** Null where the problem is not about one field. */
export const fieldProblemOf = (error: unknown): FieldProblem | null => {
  if (!(error instanceof ApiError) || error.field === null) return null
  const { name, rule } = error.field
  const [, index] = /\[(\d+)\]/.exec(name) ?? []
  if (index !== undefined) return { field: name, text: `Entry ${Number(index) + 1} ${ended(rule)}` }
  return { field: name, text: error.code === 'MISSING_REQUIRED_FIELD' ? 'This field is required.' : sentence(rule) }
}

export interface ProblemText {
  readonly title: string
  readonly text: string
  /** For whoever reads the log; null where the server was not reached. */
  readonly requestId: string | null
}

/** Says what is known and no more. */
export const problemText = (error: unknown): ProblemText => {
  if (error instanceof NetworkError) {
    return {
      title: 'The service did not answer',
      text: 'It is not running, or the network between is down. Nothing is lost on this page; try again.',
      requestId: null,
    }
  }
  if (error instanceof PasskeyRefusedError) {
    return {
      title: 'No passkey was used',
      text: 'It was cancelled, took too long, or there is none on this device. Try again, or use another way.',
      requestId: null,
    }
  }
  if (!(error instanceof ApiError)) {
    return { title: 'This page failed', text: 'That is a fault of the page. Reload it and try again.', requestId: null }
  }
  const { status, code, detail, requestId, retryAfterSeconds } = error
  if (code === 'CONFIRMATION_REQUIRED') {
    return {
      title: 'Nothing was changed',
      text: 'This needs your password or a passkey once more. Try again and confirm that it is you.',
      requestId,
    }
  }
  if (code === APPROVAL_REQUIRED) {
    return {
      title: 'Nothing was asked for',
      text: 'A second person has to approve this. Try again to ask for it.',
      requestId,
    }
  }
  if (code === 'SECOND_FACTOR_MISSING') return { title: 'A second factor is needed', text: sentence(detail), requestId }
  if (status === 403) return { title: 'Not allowed', text: sentence(detail), requestId }
  if (status === 404) return { title: 'Not found', text: sentence(detail), requestId }
  if (status === 409) return { title: 'This can’t be done as things are', text: sentence(detail), requestId }
  if (status === 429) {
    return {
      title: 'Too many requests',
      text: `Try again in ${counted(retryAfterSeconds ?? 1, 'second', 'seconds')}.`,
      requestId,
    }
  }
  if (status >= 500) return { title: 'The service failed', text: sentence(detail), requestId }
  return { title: 'That was refused', text: sentence(detail), requestId }
}
