import { counted } from '../../../lib/counted.ts'

/** Invalid field with the server's name and rule: `rate_limit.burst` must be a whole number. */
interface FieldFault {
  readonly name: string
  readonly rule: string
}

interface ApiErrorDetails {
  readonly retryAfterSeconds?: number | null
  readonly field?: FieldFault | null
}

/** The server refused the request with an RFC 9457 problem. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** Stable code; empty if the response isn't from this server. */
  readonly code: string
  readonly detail: string
  readonly requestId: string
  readonly retryAfterSeconds: number | null
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

/** The server was unreachable or its response was interrupted; a change may still have been made. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
}

/** The change waits for a second person's approval and isn't made yet. */
export class WaitsForApproval extends Error {
  override readonly name = 'WaitsForApproval'
}

/** The change requires approval, and the user canceled the request for it. */
export const APPROVAL_REQUIRED = 'APPROVAL_REQUIRED'

/** The user presented no passkey, or the browser has none: browsers don't distinguish the two. */
export class PasskeyRefusedError extends Error {
  override readonly name = 'PasskeyRefusedError'
}

interface FieldProblem {
  readonly field: string
  readonly text: string
}

const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
const sentence = (text: string): string => ended(text.charAt(0).toUpperCase() + text.slice(1))

export const fieldProblemOf = (error: unknown): FieldProblem | null => {
  if (!(error instanceof ApiError) || error.field === null) return null
  const { name, rule } = error.field
  const [, index] = /\[(\d+)\]/.exec(name) ?? []
  if (index !== undefined) return { field: name, text: `Entry ${Number(index) + 1} ${ended(rule)}` }
  return { field: name, text: error.code === 'MISSING_REQUIRED_FIELD' ? 'This field is required.' : sentence(rule) }
}

interface ProblemText {
  readonly title: string
  readonly text: string
  readonly requestId: string | null
}

export const problemText = (error: unknown): ProblemText => {
  if (error instanceof NetworkError) {
    return {
      title: 'The service did not respond',
      text: 'The service or the network is down. Nothing on this page is lost. Try again.',
      requestId: null,
    }
  }
  if (error instanceof PasskeyRefusedError) {
    return {
      title: 'No passkey was used',
      text: 'The request was canceled or timed out, or this device has no passkey. Try again, or use another method.',
      requestId: null,
    }
  }
  if (!(error instanceof ApiError)) {
    return {
      title: 'Something went wrong on this page',
      text: 'This is an error in the page. Reload it and try again.',
      requestId: null,
    }
  }
  const { status, code, detail, requestId, retryAfterSeconds } = error
  if (code === 'CONFIRMATION_REQUIRED') {
    return {
      title: 'Nothing was changed',
      text: 'This change requires your password or a passkey. Try again and confirm your identity.',
      requestId,
    }
  }
  if (code === APPROVAL_REQUIRED) {
    return {
      title: 'Approval was not requested',
      text: 'A second person must approve this change. Try again to request approval.',
      requestId,
    }
  }
  if (code === 'SECOND_FACTOR_MISSING') return { title: 'Second factor required', text: sentence(detail), requestId }
  if (status === 403) return { title: 'Not allowed', text: sentence(detail), requestId }
  if (status === 404) return { title: 'Not found', text: sentence(detail), requestId }
  if (status === 409) return { title: 'This isn’t possible right now', text: sentence(detail), requestId }
  if (status === 429) {
    return {
      title: 'Too many requests',
      text: `Try again in ${counted(retryAfterSeconds ?? 1, 'second', 'seconds')}.`,
      requestId,
    }
  }
  if (status >= 500) return { title: 'Service error', text: sentence(detail), requestId }
  return { title: 'Request refused', text: sentence(detail), requestId }
}
