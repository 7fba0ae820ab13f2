// Options, limits, events and shared state of a pool. Events contain no worker-internal text and no request data.
import type { Throttle } from '../lib/throttle.ts'
import type { Clock, Timers } from '../lib/time.ts'
import type { SentRevision } from '../policy/types/program.ts'
import type { Logger } from '../telemetry/log.ts'
import type { FairQueue } from './fair-queue.ts'
import type { RecoverDecisions } from './lost-jobs.ts'
import type { PoolStatistics } from './pool-statistics.ts'
import type { RuleFailure, WorkerSettings } from './protocol.ts'
import type { OpenPort } from './wire.ts'
import type { ReadyReport, WorkerHandle } from './worker-handle.ts'

export interface PoolLimits {
  /** A worker with jobs is abandoned if its heartbeat does not change for this long. */
  readonly hangMs: number
  /** The same limit while the worker writes its log: a slow disk stalls every worker. */
  readonly commitStallMs: number
  readonly startTimeoutMs: number
  /** Time for a terminated thread to end before it counts as stuck in native code. */
  readonly terminateGraceMs: number
  readonly closeTimeoutMs: number
  /** Time for reading a lost worker's log before its jobs fail. */
  readonly recoverTimeoutMs: number
  /** Time for all workers together to open new keys. */
  readonly attestersTimeoutMs: number
  /** Maximum jobs per worker: two batches, so that a worker never waits. The others can still be dropped. */
  readonly maxInFlight: number
  /** Longest turn of the main thread for which workers hold more jobs. Later jobs wait behind them. */
  readonly bridgedTurnMs: number
  readonly maxBatch: number
  /** Amount of work that an awake worker gets before another worker is woken. */
  readonly wakeWorthMs: number
  readonly maxShare: number
  /** Number of workers lost while holding a job after which the job fails. */
  readonly maxLosses: number
  /** Number of workers lost while processing a job after which the job fails. */
  readonly maxKills: number
  /** Maximum times that workers may report a missing target for one job. */
  readonly maxRedefinitions: number
  /** Doubles with each failure up to the maximum. */
  readonly restartBackoffMs: number
  readonly restartBackoffMaxMs: number
}

export const DEFAULT_POOL_LIMITS: PoolLimits = {
  hangMs: 2000,
  commitStallMs: 10_000,
  startTimeoutMs: 60_000,
  terminateGraceMs: 250,
  closeTimeoutMs: 5000,
  recoverTimeoutMs: 500,
  attestersTimeoutMs: 60_000,
  maxInFlight: 64,
  bridgedTurnMs: 50,
  maxBatch: 32,
  wakeWorthMs: 0.3,
  maxShare: 8,
  maxLosses: 3,
  maxKills: 2,
  maxRedefinitions: 3,
  restartBackoffMs: 100,
  restartBackoffMaxMs: 5000,
}

export type LossCause =
  /** The thread exited by itself: an exit, an uncaught error or a floating rejection. */
  'crash' | 'hang' | 'start'

export type PoolEvent =
  | { readonly type: 'worker-ready'; readonly slot: number; readonly generation: number; readonly report: ReadyReport }
  | {
      readonly type: 'worker-lost'
      readonly slot: number
      readonly generation: number
      readonly cause: LossCause
      readonly inFlight: number
      readonly culpritUuid: string | null
    }
  | { readonly type: 'worker-unusable'; readonly slot: number; readonly reason: string }
  | {
      readonly type: 'jobs-recovered'
      readonly slot: number
      readonly answered: number
      readonly dispatchedAgain: number
      readonly failed: number
      readonly withheld: number
    }
  /** None of the lost worker’s jobs is signed again. */
  | { readonly type: 'recovery-failed'; readonly slot: number; readonly errorClass: string }
  | { readonly type: 'job-failed'; readonly requestId: string; readonly uuid: string; readonly errorClass: string }
  | ({ readonly type: 'rule-failed'; readonly requestId: string; readonly uuid: string } & RuleFailure)
  | { readonly type: 'withheld'; readonly uuids: readonly string[] }

export type PoolEventListener = (event: PoolEvent) => void

export const isLogFailure = (errorClass: string): boolean => errorClass.startsWith('DecisionLogError')

export const logPoolEvent = (
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
  throttle: Throttle,
  event: PoolEvent,
): void => {
  switch (event.type) {
    case 'worker-ready': {
      const { slot, generation, report } = event
      log.info('worker ready', { slot, generation, signer: report.signer })
      break
    }
    case 'jobs-recovered':
      log.info('recovered the jobs of a failed worker', { ...event, type: undefined })
      break
    case 'withheld':
      log.warn('responses withheld after their deadline', { count: event.uuids.length })
      break
    case 'worker-lost':
      log.error('worker lost', { ...event, type: undefined })
      break
    case 'worker-unusable':
      log.error('a worker cannot start', { ...event, type: undefined })
      break
    case 'recovery-failed':
      log.error('could not read the decision log of a failed worker', { ...event, type: undefined })
      break
    case 'rule-failed': {
      const unlogged = throttle(`${event.revision} ${event.rule} ${event.subject}`)
      if (unlogged !== null) log.error('a rule could not be evaluated', { ...event, type: undefined, unlogged })
      break
    }
    case 'job-failed': {
      const unlogged = throttle(event.errorClass)
      if (unlogged === null) break
      const message = isLogFailure(event.errorClass)
        ? 'decisions cannot be recorded; no signature is returned'
        : 'a request could not be evaluated'
      log.error(message, { ...event, type: undefined, unlogged })
      break
    }
  }
}

export interface PoolOptions {
  readonly workers: number
  readonly spawn: OpenPort
  readonly settings: Omit<WorkerSettings, 'slot' | 'generation' | 'shared'>
  /** Defaults to 0. Pools that share a log need different numbers. */
  readonly firstSlot?: number
  /** Returns the weight of an organization's share of the workers' time under contention. Defaults to 1. */
  readonly weightOf?: ((organizationId: string) => number) | undefined
  /** Further jobs are refused, or displace a job of the organization with the longest queue. */
  readonly queueLimit: number
  readonly recover: RecoverDecisions
  readonly definitions: { revision(revisionId: string): SentRevision | undefined }
  readonly clock: Clock
  readonly timers?: Timers
  readonly limits?: Partial<PoolLimits>
  readonly onEvent?: PoolEventListener
}

export interface PoolParts {
  readonly clock: Clock
  readonly timers: Timers
  readonly limits: PoolLimits
  readonly onEvent: PoolEventListener
  readonly statistics: PoolStatistics
  readonly queue: FairQueue
  /** Starting, live and draining workers. Only the supervisor adds and removes workers. */
  readonly handles: WorkerHandle[]
  changes: number
  /** Monotonic end of the lease. All jobs then wait, because this process may have missed changes. */
  leaseUntilMs: number
}
