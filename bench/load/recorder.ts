// Counts the events of the measured window. A closed loop counts answers within it. An open loop counts every request
// due within it, whenever its answer arrives, so that slow answers are included.
import { createLatencyHistogram } from './histogram.ts'
import type { FailureKind, LatencySummary, Outcomes } from './plan.ts'

/** Refused due to overload (503) or a limit (429). */
const REFUSED = 503
const LIMITED = 429
/** The service's own deadline passed (408). */
const DEADLINE_PASSED = 408
/** Later answers are late, because callers have given up by then. */
const PROMPT_MS = 1_000

export interface Recorder {
  /** Opens the window after the warm-up. */
  open(nowMs: number): void
  close(nowMs: number): void
  /** Open loop: the generator processed a request due at `dueMs`, by sending or queueing it. */
  takenUp(dueMs: number, nowMs: number): void
  /**
   * `dueMs`: due time (open loop) or sending time (closed loop). `fromMs`: start of the latency; differs from `dueMs`
   * only if the generator was late. Returns true if the answer counts as part of the window.
   */
  answered(dueMs: number, nowMs: number, status: number, fromMs?: number): boolean
  /** The last answer with status 200 was not the requested one and counts as an error. */
  wrong(nowMs: number, fromMs: number): void
  failed(dueMs: number, nowMs: number, kind: FailureKind, fromMs?: number): void
  /** Returns the number of answers of any status, inside and outside the window. */
  completions(): number
  report(): RecorderReport
}

export interface RecorderReport {
  readonly statuses: Record<string, number>
  readonly failures: Partial<Record<FailureKind, number>>
  readonly outcomes: Outcomes
  readonly latencyMs: LatencySummary
  readonly refusalLatencyMs: LatencySummary
  readonly generatorDelayMs: LatencySummary
}

export const createRecorder = (countBy: 'answer' | 'due'): Recorder => {
  const latency = createLatencyHistogram()
  const refusals = createLatencyHistogram()
  const generatorDelay = createLatencyHistogram()
  const statusCounts = new Uint32Array(600)
  const failures: Partial<Record<FailureKind, number>> = {}
  let openedMs = Number.POSITIVE_INFINITY
  let closedMs = Number.POSITIVE_INFINITY
  let completed = 0
  const outcomes = { answered: 0, refused: 0, late: 0, errors: 0 }
  const within = (timeMs: number): boolean => timeMs >= openedMs && timeMs < closedMs

  return {
    open(nowMs) {
      openedMs = nowMs
    },
    close(nowMs) {
      closedMs = nowMs
    },
    takenUp(dueMs, nowMs) {
      if (within(dueMs)) generatorDelay.recordMs(nowMs - dueMs)
    },
    answered(dueMs, nowMs, status, fromMs = dueMs) {
      completed++
      if (!within(countBy === 'answer' ? nowMs : dueMs)) return false
      statusCounts[status] = statusCounts[status]! + 1
      if (status >= 200 && status < 300) {
        latency.recordMs(nowMs - fromMs)
        outcomes[nowMs - fromMs <= PROMPT_MS ? 'answered' : 'late']++
      } else if (status === REFUSED || status === LIMITED) {
        refusals.recordMs(nowMs - fromMs)
        outcomes.refused++
      } else outcomes[status === DEADLINE_PASSED ? 'late' : 'errors']++
      return true
    },
    wrong(nowMs, fromMs) {
      outcomes[nowMs - fromMs <= PROMPT_MS ? 'answered' : 'late']--
      outcomes.errors++
    },
    failed(dueMs, nowMs, kind, fromMs = dueMs) {
      // In a closed loop, an unanswered request belongs to the window in which it was sent.
      if (!within(countBy === 'answer' && kind !== 'timeout' ? nowMs : dueMs)) return
      failures[kind] = (failures[kind] ?? 0) + 1
      outcomes[kind === 'timeout' || kind === 'not-sent' ? 'late' : 'errors']++
      // Recorded as well: without the slowest requests, latencies would appear too low.
      if (kind === 'timeout') latency.recordMs(nowMs - fromMs)
    },
    completions: () => completed,
    report() {
      const statuses: Record<string, number> = {}
      statusCounts.forEach((count, status) => {
        if (count > 0) statuses[status] = count
      })
      return {
        statuses,
        failures,
        outcomes,
        latencyMs: latency.summary(),
        refusalLatencyMs: refusals.summary(),
        generatorDelayMs: generatorDelay.summary(),
      }
    },
  }
}
