// What every part of a run works with.
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
  /** What to send the bare server, which starts at the first call; null where it can't be had. */
  bareServer(): Promise<Omit<LoadTarget, 'part'> | null>
}

/** A part takes its turn in every round, so that drift of the machine touches all parts alike. */
export interface BenchPart {
  readonly name: string
  /** Once, before the first round. */
  warm(): Promise<void>
  round(): Promise<void>
}
