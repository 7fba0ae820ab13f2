// What the log says of answers that are failures of ours: every 500, and outages (503) at most once a second each, since
// an outage under load is one event and not ten thousand. The error's text stays out; its class and place are logged.
import { CountersignError } from '../domain/errors.ts'
import type { Logger } from './log.ts'
import { createThrottle } from './throttle.ts'

export interface FailureReportDependencies {
  readonly log: Pick<Logger, 'error' | 'warn'>
  readonly monotonicMs: () => number
}

/** Must not throw, and never does. */
export type FailureReport = (error: unknown, requestId: string, traceId?: string) => void

export const createFailureReport = ({ log, monotonicMs }: FailureReportDependencies): FailureReport => {
  const throttle = createThrottle({ monotonicMs })
  return (error, requestId, traceId) => {
    const request = traceId === undefined ? { requestId } : { requestId, traceId }
    if (!(error instanceof CountersignError) || error.code === 'INTERNAL') {
      log.error('a request failed', { ...request, error })
      return
    }
    const { code, detail } = error
    // Details are chosen texts; a few name what the operator configured.
    const unlogged = throttle(detail)
    if (unlogged !== null) log.warn('requests can not be answered', { ...request, code, detail, unlogged, error })
  }
}
