// Role of a process among the processes of a deployment, assigned at its start.
import type { ProcessControl } from '../admin/live/processes.ts'

export interface ServicePlace {
  /** Index, starting at 0. The first process also serves the pages. */
  readonly index: number
  /** Whether other processes may listen on the same address, which the supervisor has then claimed. */
  readonly shared: boolean
  /** Collects the metrics of all processes. `own` reads this process's metrics. */
  readonly collectMetrics: (own: () => Promise<string>) => Promise<string>
  readonly control: ProcessControl
  /** Trial of a restored backup: makes no outgoing calls, and runs no leader task except building the log's tree. */
  readonly isTrial?: boolean
}
