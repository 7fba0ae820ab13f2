// Logs answers that are errors: every 500; outages (503) at most once a second each, because an outage under load is
// one event and not ten thousand; and each refusal in one line, so that its reason can be found by the request id. Logs
// an error's class and place, not its text. For a refusal not even its detail is logged: it may name what was sent, and
// an API key is easily sent in the wrong field.
import { CountersignError, ERROR_STATUS, FieldInvalidError, FieldMissingError } from '../domain/errors.ts'
import { createLineLimit } from '../lib/line-limit.ts'
import { createThrottle } from '../lib/throttle.ts'
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
    // Names of known fields are texts of our choice as well.
    const field = error instanceof FieldInvalidError || error instanceof FieldMissingError ? { field: error.field } : {}
    log.info('a request was refused', { requestId, status: ERROR_STATUS[code], code, ...field, unlogged })
  }

  return (error, requestId, traceId) => {
    const request = traceId === undefined ? { requestId } : { requestId, traceId }
    if (!(error instanceof CountersignError) || error.code === 'INTERNAL') {
      log.error('a request failed', { ...request, error })
      return
    }
    if (ERROR_STATUS[error.code] < 500) {
      sayRefusal(error, requestId)
      return
    }
    const { code, detail } = error
    // Details are texts of our choice; a few name what the operator configured.
    const held = throttle(detail)
    if (held !== null) log.warn('requests can not be answered', { ...request, code, detail, unlogged: held, error })
  }
}
