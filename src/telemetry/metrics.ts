// Counters that requests increment, and values read at each scrape. Label values are known at startup.
import { ERRORS, type ErrorCode } from '../domain/errors.ts'
import type { ShadowOutcome } from '../domain/verdict.ts'
import type { HistogramSnapshot } from '../lib/histogram.ts'
import { createExposition, type Exposition, histogramSamples, type Sample } from './exposition.ts'
import { addFactMetrics, type FactMetrics } from './fact-metrics.ts'
import { addIdentityMetrics, type IdentityMetrics } from './identity-metrics.ts'
import { METRICS } from './metric-table.ts'
import { addProcessMetrics } from './process-metrics.ts'
import { createDecisions, createRouteMetrics, type DecisionCount } from './request-metrics.ts'

export interface PoolMetrics {
  readonly workers: number
  readonly busy: number
  readonly wanted: number
  /** Abandoned threads still running in native code. */
  readonly abandoned: number
  readonly queued: number
  readonly queueLimit: number
  readonly inFlight: number
  readonly restarts: Readonly<Record<'crash' | 'hang' | 'start', number>>
  readonly answered: number
  readonly refused: number
  readonly expired: number
  readonly failed: number
  readonly shadows: Readonly<Record<ShadowOutcome, number>>
  /** Answers withheld because they arrived after the 408. */
  readonly withheld: number
  readonly wait: HistogramSnapshot
  readonly run: HistogramSnapshot
}

export interface SharingMetrics {
  /** One entry per role of this process that has leader tasks. */
  readonly leads: readonly { readonly role: string; readonly leads: boolean }[]
  readonly liveProcesses: number
  /** True if processes don't coordinate, so that each enforces an equal share of the rate limits. */
  readonly limitsCut: boolean
}

const addSharingMetrics = (exposition: Exposition, read: () => SharingMetrics | null): void => {
  const sample = (of: (sharing: SharingMetrics) => number) => (): readonly Sample[] => {
    const sharing = read()
    return sharing === null ? [] : [{ labels: {}, value: of(sharing) }]
  }
  exposition.add(METRICS.leads, () =>
    (read()?.leads ?? []).map(({ role, leads }) => ({ labels: { role }, value: leads ? 1 : 0 })),
  )
  exposition.add(
    METRICS.liveProcesses,
    sample(({ liveProcesses }) => liveProcesses),
  )
  exposition.add(
    METRICS.limitsCut,
    sample(({ limitsCut }) => (limitsCut ? 1 : 0)),
  )
}

export interface MetricsOptions {
  /** Chain names; other chains count as `other`. */
  readonly chains: readonly string[]
  readonly build: {
    readonly version: string
    readonly runtime: string
    readonly signer: string
    readonly store: string
  }
  readonly pool?: () => PoolMetrics
  readonly activeRequests?: () => number
  /** Results after a 408 response. */
  readonly lateOutcomes?: () => number
  /** Returns whether the workers sign with the stored attesters. */
  readonly attestersCurrent?: () => boolean
  readonly changeFeedAgeSeconds?: () => number | null
  readonly logLinesDropped?: () => number
  /** Returns the number of records that the decision log refused. */
  readonly decisionLogFailures?: () => number
  /** Returns the number of requests without a verdict because a rule failed, by reason. */
  readonly ruleFailures?: () => Readonly<Record<string, number>>
  readonly openStreams?: () => number
  readonly facts?: () => FactMetrics
  readonly sharing?: () => SharingMetrics
  readonly addFurther?: (exposition: Exposition) => void
}

/** Totals since startup, for the live view. */
export interface MetricTotals {
  readonly decisions: readonly DecisionCount[]
  readonly errors: Readonly<Record<ErrorCode, number>>
}

const labelled = (label: string, values: Readonly<Record<string, number>>): readonly Sample[] =>
  Object.entries(values).map(([value, count]) => ({ labels: { [label]: value }, value: count }))

const one = (value: number | null | undefined): readonly Sample[] =>
  value === null || value === undefined ? [] : [{ labels: {}, value }]

const addPoolMetrics = (exposition: Exposition, pool: MetricsOptions['pool']): void => {
  const ofPool = (read: (pool: PoolMetrics) => readonly Sample[]) => (): readonly Sample[] =>
    pool === undefined ? [] : read(pool())

  exposition.add(
    METRICS.poolWait,
    ofPool((pool) => histogramSamples(METRICS.poolWait.name, {}, pool.wait)),
  )
  exposition.add(
    METRICS.poolRun,
    ofPool((pool) => histogramSamples(METRICS.poolRun.name, {}, pool.run)),
  )
  exposition.add(
    METRICS.poolJobs,
    ofPool(({ answered, refused, expired, failed, withheld }) =>
      labelled('outcome', { answered, refused, expired, failed, withheld }),
    ),
  )
  exposition.add(
    METRICS.shadowDecisions,
    ofPool(({ shadows }) => labelled('outcome', shadows)),
  )
  exposition.add(
    METRICS.poolQueued,
    ofPool((pool) => one(pool.queued)),
  )
  exposition.add(
    METRICS.poolQueueLimit,
    ofPool((pool) => one(pool.queueLimit)),
  )
  exposition.add(
    METRICS.poolInFlight,
    ofPool((pool) => one(pool.inFlight)),
  )
  exposition.add(
    METRICS.workers,
    ofPool(({ workers, busy, wanted, abandoned }) => labelled('state', { live: workers, busy, wanted, abandoned })),
  )
  exposition.add(
    METRICS.workerLosses,
    ofPool((pool) => labelled('cause', pool.restarts)),
  )
}

export const createMetrics = (options: MetricsOptions) => {
  const exposition = createExposition()
  const routes = createRouteMetrics()
  const decisions = createDecisions(options.chains)
  const errors = Object.fromEntries(Object.keys(ERRORS).map((code) => [code, 0])) as Record<ErrorCode, number>
  const totals = { idempotency: 0 }

  exposition.add(METRICS.requestDuration, routes.samples)
  exposition.add(METRICS.activeRequests, () => one(options.activeRequests?.()))
  exposition.add(METRICS.errors, () => labelled('code', errors))
  exposition.add(METRICS.decisions, decisions.samples)
  exposition.add(METRICS.lateOutcomes, () => one(options.lateOutcomes?.()))
  exposition.add(METRICS.decisionLogFailures, () => one(options.decisionLogFailures?.()))
  exposition.add(METRICS.ruleFailures, () => labelled('reason', options.ruleFailures?.() ?? {}))
  exposition.add(METRICS.idempotencyFailures, () => one(totals.idempotency))
  exposition.add(METRICS.logLinesDropped, () => one(options.logLinesDropped?.()))
  addPoolMetrics(exposition, options.pool)
  let readLists: () => FactMetrics['lists'] = () => []
  addFactMetrics(exposition, () => {
    const facts = options.facts?.()
    return facts === undefined ? null : { ...facts, lists: [...facts.lists, ...readLists()] }
  })
  let readIdentity: (() => IdentityMetrics) | null = null
  addIdentityMetrics(exposition, () => readIdentity?.() ?? null)
  addSharingMetrics(exposition, () => options.sharing?.() ?? null)
  exposition.add(METRICS.openStreams, () => one(options.openStreams?.()))
  exposition.add(METRICS.attestersOutdated, () => {
    const current = options.attestersCurrent?.()
    return one(current === undefined ? null : Number(!current))
  })
  exposition.add(METRICS.changeFeedAge, () => one(options.changeFeedAgeSeconds?.()))
  exposition.add(METRICS.build, () => [{ labels: options.build, value: 1 }])
  options.addFurther?.(exposition)
  const stopProcessMetrics = addProcessMetrics(exposition)

  return {
    contentType: exposition.contentType,
    totals: (): MetricTotals => ({ decisions: decisions.totals(), errors: { ...errors } }),
    durations: routes.durations,
    /** Calls with the same route share their counts. Requests without a route count as `other`. */
    route: routes.recorder,
    recordDecision: decisions.record,
    recordError: (code: ErrorCode) => {
      errors[code] += 1
    },
    recordIdempotencyFailure: () => {
      totals.idempotency += 1
    },
    watchLists: (read: () => FactMetrics['lists']) => {
      readLists = read
    },
    /** Connects the metrics of identity, which is created later. Until then, they have no samples. */
    watchIdentity: (read: () => IdentityMetrics) => {
      readIdentity = read
    },
    expose: exposition.text,
    stop: stopProcessMetrics,
  }
}

export type Metrics = ReturnType<typeof createMetrics>
