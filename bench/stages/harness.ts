// Times one stage of the way by itself: warm up, find how many operations fill a round, run several rounds. CPU time
// rather than wall time, so that a neighbour on the machine costs the result little; the median and the best are kept.

/** One part of the way through the service, measured alone. */
export interface StageBenchmark {
  /** Short and stable: it names the measurement. */
  readonly name: string
  /** What one operation is. */
  readonly description: string
  /** Null when this machine lacks something that the stage needs. */
  prepare(): StageRun | null | Promise<StageRun | null>
}

export interface StageRun {
  /** Does the operation so many times. */
  run(iterations: number): void | Promise<void>
  /** Called before each run, outside of the measured time. */
  reset?(): void
  /** Operations that one iteration stands for (a batch); 1 unless given. */
  readonly operations?: number
  close?(): void | Promise<void>
}

export interface StageMeasurement {
  readonly name: string
  readonly description: string
  /** CPU microseconds per operation, one number a round. All threads of the process count. */
  readonly rounds: readonly number[]
  readonly median: number
  readonly minimum: number
}

export interface HarnessOptions {
  readonly warmupMs: number
  readonly rounds: number
  readonly roundMs: number
}

export interface HarnessClock {
  nowMs(): number
  /** CPU time of this process so far. */
  cpuMicroseconds(): number
}

export const processClock: HarnessClock = {
  nowMs: () => performance.now(),
  cpuMicroseconds: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
}

/** The middle value, or the mean of the two middle ones. @throws RangeError for an empty list. */
export const median = (values: readonly number[]): number => {
  if (values.length === 0) throw new RangeError('no values')
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Runs for the warm-up's length, doubling; returns iterations per millisecond as last seen. */
const warmUp = async (stage: StageRun, warmupMs: number, clock: HarnessClock): Promise<number> => {
  const startMs = clock.nowMs()
  for (let iterations = 1; ; ) {
    stage.reset?.()
    const beganMs = clock.nowMs()
    await stage.run(iterations)
    const tookMs = clock.nowMs() - beganMs
    if (clock.nowMs() - startMs >= warmupMs && tookMs > 0) return iterations / tookMs
    // Up to an eighth of the warm-up in one go, so that it ends near its length.
    if (tookMs < warmupMs / 8) iterations *= 2
  }
}

/** Null where the stage can't run here. */
export const measureStage = async (
  stage: StageBenchmark,
  options: HarnessOptions,
  clock: HarnessClock = processClock,
): Promise<StageMeasurement | null> => {
  const prepared = await stage.prepare()
  if (prepared === null) return null
  try {
    const perMs = await warmUp(prepared, options.warmupMs, clock)
    const iterations = Math.max(1, Math.round(perMs * options.roundMs))
    const operations = iterations * (prepared.operations ?? 1)
    const rounds: number[] = []
    for (let round = 0; round < options.rounds; round++) {
      prepared.reset?.()
      const before = clock.cpuMicroseconds()
      await prepared.run(iterations)
      rounds.push((clock.cpuMicroseconds() - before) / operations)
    }
    return {
      name: stage.name,
      description: stage.description,
      rounds,
      median: median(rounds),
      minimum: Math.min(...rounds),
    }
  } finally {
    await prepared.close?.()
  }
}
