// Without this conversion, Elysia would respond with its own texts and formats.
import { CountersignError, fixedError } from '../domain/errors.ts'
import { JsonMalformedError } from './strict-json.ts'

export class RouteNotFoundError extends fixedError('NOT_FOUND', 'this path does not exist') {}

/** `allow` is the value of the Allow header (RFC 9110 §15.5.6). */
export class MethodNotAllowedError extends CountersignError {
  readonly allow: string
  constructor(allow: string) {
    super('METHOD_NOT_ALLOWED', `this path supports only ${allow}`)
    this.allow = allow
  }
}

/** The message of the router’s validation would repeat the input. */
class RequestRefusedError extends CountersignError {
  constructor(cause: unknown) {
    super('INVALID_REQUEST', 'the request is invalid', { cause })
  }
}

export const fromRouterError = (code: string | number, error: unknown): unknown => {
  if (error instanceof CountersignError) return error
  if (code === 'NOT_FOUND') return new RouteNotFoundError()
  if (code === 'PARSE') return new JsonMalformedError(error)
  if (code === 'VALIDATION' || code === 'INVALID_COOKIE_SIGNATURE' || code === 'INVALID_FILE_TYPE') {
    return new RequestRefusedError(error)
  }
  return error
}
