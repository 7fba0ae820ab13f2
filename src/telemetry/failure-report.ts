// What the log says of answers that are failures of ours: every 500, and outages (503) at most once a second each, since
// an outage under load is one event and not ten thousand. The error's text stays out; its class and place are logged.
import { CountersignError } from '../domain/errors.ts'
import type { Logger } from './log.ts'

const QUIET_MS = 1_000
/** Details are chosen texts; a few name what the operator configured. Beyond this many the oldest is forgotten. */
const OUTAGES_MAX = 64

export interface FailureReportDependencies {
  readonly log: Pick<Logger, 'error' | 'warn'>
  readonly monotonicMs: () => number
}

interface Outage {
  loggedMs: number
  /** Answers since then that were not logged. */
  unlogged: number
}

/** Must not throw, and never does. */
export type FailureReport = (error: unknown, requestId: string, traceId?: string) => void

export const createFailureReport = ({ log, monotonicMs }: FailureReportDependencies): FailureReport => {
  const outages = new Map<string, Outage>()
  return (error, requestId, traceId) => {
    const request = traceId === undefined ? { requestId } : { requestId, traceId }
    if (!(error instanceof CountersignError) || error.code === 'INTERNAL') {
      log.error('a request failed', { ...request, error })
      return
    }
    const { code, detail } = error
    const known = outages.get(detail)
    const nowMs = monotonicMs()
    if (known !== undefined && nowMs - known.loggedMs < QUIET_MS) {
      known.unlogged++
      return
    }
    outages.delete(detail)
    const [oldest] = outages.keys()
    if (outages.size >= OUTAGES_MAX && oldest !== undefined) outages.delete(oldest)
    outages.set(detail, { loggedMs: nowMs, unlogged: 0 })
    log.warn('requests can not be answered', { ...request, code, detail, unlogged: known?.unlogged ?? 0, error })
  }
}
