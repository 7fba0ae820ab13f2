// Converts errors of the router. Without it, Elysia would respond with its own texts and formats.
import { CountersignError, fixedError } from '../domain/errors.ts'
import { JsonMalformedError } from './strict-json.ts'

/** The path doesn't exist. */
export class RouteNotFoundError extends fixedError('NOT_FOUND', 'there is nothing at this path') {}

/** The path exists, but not with this method. `allow` is the value of the Allow header (RFC 9110 §15.5.6). */
export class MethodNotAllowedError extends CountersignError {
  readonly allow: string
  constructor(allow: string) {
    super('METHOD_NOT_ALLOWED', `this path answers ${allow} only`)
    this.allow = allow
  }
}

/** The router's validation refused the request. Its message would repeat the input. */
class RequestRefusedError extends CountersignError {
  constructor(cause: unknown) {
    super('INVALID_REQUEST', 'the request is not valid', { cause })
  }
}

/** Converts an error of Elysia's `onError` (`code`, `error`) to one that `toProblem` can map. */
export const fromRouterError = (code: string | number, error: unknown): unknown => {
  if (error instanceof CountersignError) return error
  if (code === 'NOT_FOUND') return new RouteNotFoundError()
  if (code === 'PARSE') return new JsonMalformedError(error)
  if (code === 'VALIDATION' || code === 'INVALID_COOKIE_SIGNATURE' || code === 'INVALID_FILE_TYPE') {
    return new RequestRefusedError(error)
  }
  return error
}
