// Where a process stands among those that serve the same deployment, as whoever starts it says.
import type { ProcessControl } from '../admin/live/processes.ts'

/** What a process is to others that serve the same deployment. */
export interface ServicePlace {
  /** From 0. The first serves the pages as well. */
  readonly index: number
  /** Others may listen on the same address. Whoever started them has claimed it and locked the data folder. */
  readonly shared: boolean
  /** All processes' metrics, given a way to its own. */
  readonly collectMetrics: (own: () => Promise<string>) => Promise<string>
  readonly control: ProcessControl
}
