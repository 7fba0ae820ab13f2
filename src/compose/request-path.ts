// The steps before every endpoint: request id, deadline, key, rate limit and idempotency, in this order.
import type { Config } from '../config/config.ts'
import type { Clock } from '../lib/time.ts'
import type { Authenticator } from '../server/authenticate.ts'
import { createClientAddress } from '../server/client-address.ts'
import { createDeadlines, type Deadlines } from '../server/deadline.ts'
import { createRefusalPacer, type RefusalPacer } from '../server/event-loop-turns.ts'
import { createGate, type Gate } from '../server/gate.ts'
import {
  createIdempotencyGuard,
  type IdempotencyGuard,
  type IdempotencyStore,
  type NodeMemory,
} from '../server/idempotency.ts'
import type { RateLimiter } from '../server/rate-limit.ts'
import { createRequestIds, type RequestIdSource } from '../server/request-id.ts'
import { createSignedGate } from '../server/signed-gate.ts'
import type { IdempotencyClaim } from '../store/idempotency.ts'
import type { Store } from '../store/store.ts'
import { createFailureReport, type FailureReport } from '../telemetry/failure-report.ts'
import type { Logger } from '../telemetry/log.ts'
import { createMetrics, type Metrics, type MetricsOptions } from '../telemetry/metrics.ts'
import type { OrganizationLatency } from '../telemetry/request-metrics.ts'
import type { Tracer } from '../telemetry/tracer.ts'

const CLAIM_SLACK_SECONDS = 5
/** Returns a time longer than the deadline, so that a claim's holder can't sign after another request takes it over. */
export const claimSecondsOf = ({ deadlineMs }: Pick<Config, 'deadlineMs'>): number =>
  Math.ceil(deadlineMs / 1000) + CLAIM_SLACK_SECONDS

interface RequestPathDependencies {
  readonly config: Pick<Config, 'deadlineMs' | 'trustedProxies'>
  readonly store: Pick<Store, 'idempotency'>
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  readonly latency: OrganizationLatency
  readonly lifecycle: { readonly stopping: boolean }
  readonly tracer: Tracer | null
  readonly claims: IdempotencyStore<IdempotencyClaim>
  readonly memory: NodeMemory
  readonly parts: Omit<MetricsOptions, 'activeRequests' | 'lateOutcomes'>
  readonly clock: Clock
  readonly log: Logger
}

export interface RequestPath {
  readonly requestIds: RequestIdSource
  readonly deadlines: Deadlines
  readonly pacer: RefusalPacer
  readonly gate: Gate
  /** Gate for callers that sign messages instead of sending a key. */
  readonly signedGate: ReturnType<typeof createSignedGate>
  readonly idempotent: IdempotencyGuard
  /** Guard for registrations, whose outcome is stored in session rows. */
  readonly idempotentSessions: IdempotencyGuard
  readonly metrics: Metrics
  /** Logs internal failures, each at most once per second. */
  readonly report: FailureReport
}

export const createRequestPath = (dependencies: RequestPathDependencies): RequestPath => {
  const { config, store, authenticator, limiter, latency, lifecycle, tracer, claims, memory, parts, clock, log } =
    dependencies
  const report = createFailureReport({ log, monotonicMs: clock.monotonicMs })
  const requestIds = createRequestIds()
  const deadlines = createDeadlines({
    clock,
    durationMs: config.deadlineMs,
    reportLate: (error) => {
      if (error !== undefined) log.debug('work failed after its deadline', { error })
    },
  })
  const metrics = createMetrics({ ...parts, activeRequests: deadlines.active, lateOutcomes: deadlines.late })
  const pacer = createRefusalPacer()
  const clientAddress = createClientAddress(config.trustedProxies)
  const gate = createGate({
    authenticator,
    limiter,
    deadlines,
    requestIds,
    pacer,
    metrics,
    latency,
    report,
    lifecycle,
    tracer,
    monotonicMs: clock.monotonicMs,
    clientAddress,
  })
  const signedGate = createSignedGate({
    deadlines,
    requestIds,
    clock,
    metrics,
    report,
    pacer,
    clientAddress,
  })
  const guarding = {
    clock,
    claimSeconds: claimSecondsOf(config),
    report: (error: unknown) => {
      metrics.recordIdempotencyFailure()
      log.warn('an idempotency key could not be stored', { error })
    },
  }
  const idempotent = createIdempotencyGuard({ store: claims, memory, ...guarding })
  const idempotentSessions = createIdempotencyGuard({ store: store.idempotency, ...guarding })
  return { requestIds, deadlines, pacer, gate, signedGate, idempotent, idempotentSessions, metrics, report }
}
