// The pool's limits, with the reasons for their values.

export interface PoolLimits {
  /** A worker with jobs whose heartbeat stands still for this long is given up. */
  readonly hangMs: number
  /**
   * The same while the worker writes its log: a slow disk stalls every worker, and a new one would not write faster.
   */
  readonly commitStallMs: number
  /** From the thread's start until it is ready; opening keystores takes a second or two each. */
  readonly startTimeoutMs: number
  /** How long a terminated thread may take to end before it counts as stuck in native code. */
  readonly terminateGraceMs: number
  /** How long a worker may take to close its log when asked to. */
  readonly closeTimeoutMs: number
  /** How long reading a lost worker's log may take before its jobs are failed. */
  readonly recoverTimeoutMs: number
  /** How long all workers together may take to open new keys. */
  readonly attestersTimeoutMs: number
  /**
   * Maximum number of jobs at one worker: two batches, so that the worker never waits for the next one. The other jobs
   * wait in the queue, where they can still be dropped.
   */
  readonly maxInFlight: number
  /**
   * While a turn of the main thread takes up to this long, workers hold more jobs to bridge it. Later jobs wait behind
   * those.
   */
  readonly bridgedTurnMs: number
  /** Maximum number of jobs in one message; one append records them, and they are answered together. */
  readonly maxBatch: number
  /** The amount of work that is worth waking a thread: one worker gets this much before a sleeping one gets any. */
  readonly wakeWorthMs: number
  /** Maximum number of jobs for that work, however short they are. */
  readonly maxShare: number
  /** A job is given up after this many workers were lost while they held it, whether it was the cause or not. */
  readonly maxLosses: number
  /** A job is taken to be the cause after this many workers were lost while they were working on it. */
  readonly maxKills: number
  /** How often workers may report that they do not know a job's target. */
  readonly maxRedefinitions: number
  /** Delay before the third start in a row after failures; doubles up to the maximum. */
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
