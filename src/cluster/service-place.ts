// The place of a process among those that serve the same deployment, as given by whoever starts it.
import type { ProcessControl } from '../admin/live/processes.ts'

/** What a process is to others that serve the same deployment. */
export interface ServicePlace {
  /** Counted from 0. The first process also serves the pages. */
  readonly index: number
  /**
   * Whether other processes may listen on the same address. The supervisor has then claimed it and locked the data
   * folder.
   */
  readonly shared: boolean
  /** Collects the metrics of all processes, given a function that reads this process's own. */
  readonly collectMetrics: (own: () => Promise<string>) => Promise<string>
  readonly control: ProcessControl
  /** A trial of a restored backup: it delivers and fetches nothing, and runs no leader tasks apart from the log's tree. */
  readonly isTrial?: boolean
}
