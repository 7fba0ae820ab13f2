// The pool's numbers, with their reasons.

export interface PoolLimits {
  /** A worker with work and no sign of life for this long is given up. */
  readonly hangMs: number
  /** The same while it writes its log: a slow disk stalls every worker, and a new one would not write faster. */
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
  /** Jobs at one worker. Two batches: it never waits for the next, and the rest waits where it can be dropped. */
  readonly maxInFlight: number
  /** So long a turn of the main thread is bridged by more jobs at each worker: what follows them waits behind them. */
  readonly bridgedTurnMs: number
  /** Jobs in one message, recorded by one append and answered together. */
  readonly maxBatch: number
  /** Work that is worth waking a thread for: so much goes to one worker before one that sleeps gets any. */
  readonly wakeWorthMs: number
  /** At most this many jobs, however short they are. */
  readonly maxShare: number
  /** Workers lost under a job, guilty or not, until it is given up. */
  readonly maxLosses: number
  /** Workers lost by a job until it is held to be the cause. */
  readonly maxKills: number
  /** Times a worker may say that it does not know a job's target. */
  readonly maxRedefinitions: number
  /** Wait before the third start in a row that comes to nothing; doubles up to the maximum. */
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
