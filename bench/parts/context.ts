// The context that each part of a run receives.
import type { LoadClient } from '../load/load-client.ts'
import type { BenchOptions } from '../options.ts'
import type { Processes } from '../processes.ts'
import type { Progress } from '../progress.ts'
import type { Collector } from '../result.ts'
import type { LoadTarget } from './measure-load.ts'

export interface BenchContext {
  readonly options: BenchOptions
  readonly processes: Processes
  readonly client: LoadClient
  readonly collector: Collector
  readonly progress: Progress
  /** Returns the load for the bare server, which starts at the first call; null if it can't be built or started. */
  bareServer(): Promise<Omit<LoadTarget, 'part'> | null>
}

/** Every part runs once in each round, so that a machine that becomes slower affects all parts alike. */
export interface BenchPart {
  readonly name: string
  /** Called once, before the first round. */
  warm(): Promise<void>
  round(): Promise<void>
}
