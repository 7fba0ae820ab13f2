// Measures one stage alone: warms up, determines the number of operations per round, and runs several rounds. Measures
// CPU time, so that other load affects the result little; reports the median and the minimum.

/** A stage of the path through the service, measured alone. */
export interface StageBenchmark {
  /** Short and stable, because it names the measurement. */
  readonly name: string
  /** Description of one operation. */
  readonly description: string
  /** Null if this machine lacks a requirement of the stage. */
  prepare(): StageRun | null | Promise<StageRun | null>
}

export interface StageRun {
  /** Performs the operation this many times. */
  run(iterations: number): void | Promise<void>
  /** Called before each run, outside the measured time. */
  reset?(): void
  /** Operations per iteration (of a batch). Defaults to 1. */
  readonly operations?: number
  close?(): void | Promise<void>
}

export interface StageMeasurement {
  readonly name: string
  readonly description: string
  /** CPU microseconds per operation, one number per round. Includes all threads of the process. */
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

/** Returns the middle value, or the mean of the two middle values. @throws RangeError for an empty list */
export const median = (values: readonly number[]): number => {
  if (values.length === 0) throw new RangeError('no values')
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Runs with doubled iterations until the end of the warm-up. Returns the last number of iterations per millisecond. */
const warmUp = async (stage: StageRun, warmupMs: number, clock: HarnessClock): Promise<number> => {
  const startMs = clock.nowMs()
  for (let iterations = 1; ; ) {
    stage.reset?.()
    const beganMs = clock.nowMs()
    await stage.run(iterations)
    const tookMs = clock.nowMs() - beganMs
    if (clock.nowMs() - startMs >= warmupMs && tookMs > 0) return iterations / tookMs
    // At most an eighth of the warm-up at once, so that it ends on time.
    if (tookMs < warmupMs / 8) iterations *= 2
  }
}

/** Returns null if the stage can't run here. */
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
