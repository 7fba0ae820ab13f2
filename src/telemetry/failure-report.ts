// Logs error responses: each 500, a 503 at most once per second and detail, refusals in one line with the request id.
// Never logs an error's message, which may contain an API key.
import { CountersignError, ERRORS, FieldInvalidError, FieldMissingError } from '../domain/errors.ts'
import { createLineLimit, createThrottle } from '../lib/throttle.ts'
import type { Logger } from './log.ts'

export interface FailureReportDependencies {
  readonly log: Pick<Logger, 'error' | 'warn' | 'info'>
  readonly monotonicMs: () => number
}

/** Never throws. */
export type FailureReport = (error: unknown, requestId: string, traceId?: string) => void

export const createFailureReport = ({ log, monotonicMs }: FailureReportDependencies): FailureReport => {
  const throttle = createThrottle({ monotonicMs })
  const limit = createLineLimit(monotonicMs)

  const sayRefusal = (error: CountersignError, requestId: string): void => {
    const unlogged = limit()
    if (unlogged === null) return
    const { code } = error
    // Field names are constants, never caller input.
    const field = error instanceof FieldInvalidError || error instanceof FieldMissingError ? { field: error.field } : {}
    log.info('request refused', { requestId, status: ERRORS[code].status, code, ...field, unlogged })
  }

  return (error, requestId, traceId) => {
    const request = traceId === undefined ? { requestId } : { requestId, traceId }
    if (!(error instanceof CountersignError) || error.code === 'INTERNAL') {
      log.error('request failed', { ...request, error })
      return
    }
    if (ERRORS[error.code].status < 500) {
      sayRefusal(error, requestId)
      return
    }
    const { code, detail } = error
    // These details are constants, some with names of configured resources.
    const held = throttle(detail)
    if (held !== null) log.warn('requests cannot be served', { ...request, code, detail, unlogged: held, error })
  }
}
