// Position in a supervisor's list of processes, and the process in it.
import type { ProcessControl, ProcessState } from '../admin/live/processes.ts'
import type { FromProcess, ToProcess } from './messages.ts'

export interface SupervisedProcess {
  readonly pid: number
  /** Marks the supervisor's own process, which isn't pinged: if it hangs, so does the supervisor. */
  readonly own?: true
  /** Never throws: a process that is ending doesn't receive the message. */
  send(message: ToProcess): void
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
}

export interface ProcessListener {
  readonly onMessage: (message: FromProcess) => void
  /** Called once, when the process has ended; the code is null after a signal. */
  readonly onExit: (exitCode: number | null) => void
}

export interface Place {
  readonly index: number
  process: SupervisedProcess | null
  /** Unix milliseconds. */
  startedAtMs: number
  workers: number
  ready: boolean
  readySinceMs: number
  failures: number
  /** Number of pings since its last message. */
  silentPings: number
  /** True while it is being stopped on purpose. */
  leaving: boolean
  onReady: (() => void)[]
  onExit: ((exitCode: number | null) => void)[]
  cancelRestart: () => void
}

export const newPlace = (index: number): Place => ({
  index,
  process: null,
  startedAtMs: 0,
  workers: 0,
  ready: false,
  readySinceMs: 0,
  failures: 0,
  silentPings: 0,
  leaving: false,
  onReady: [],
  onExit: [],
  cancelRestart: () => undefined,
})

export const stateOf = ({ process, leaving, ready }: Place): ProcessState => {
  if (process === null) return 'down'
  if (leaving) return 'leaving'
  return ready ? 'ready' : 'starting'
}

/** Role of a process among the processes of a deployment, assigned at its start. */
export interface ServicePlace {
  /** Index, starting at 0. The first process also serves the pages. */
  readonly index: number
  /**
   * Whether other processes may listen on the same address. The supervisor has then claimed the address and locked the
   * data folder.
   */
  readonly shared: boolean
  /** Collects the metrics of all processes. `own` reads this process's metrics. */
  readonly collectMetrics: (own: () => Promise<string>) => Promise<string>
  readonly control: ProcessControl
  /** Trial of a restored backup: makes no outgoing calls, and runs no leader task except building the log's tree. */
  readonly isTrial?: boolean
}
