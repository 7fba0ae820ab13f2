// A supervisor's entry for a process.
import type { ProcessControl, ProcessState } from '../admin/live/processes.ts'
import type { FromProcess, ToProcess } from './messages.ts'

export interface SupervisedProcess {
  readonly pid: number
  /** True for the supervisor's own process, which isn't pinged: if it hangs, so does the supervisor. */
  readonly own?: true
  /** Never throws; an ending process doesn't receive the message. */
  send(message: ToProcess): void
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
}

export interface ProcessListener {
  readonly onMessage: (message: FromProcess) => void
  /** Called once; the code is null after a signal. */
  readonly onExit: (exitCode: number | null) => void
}

export interface Place {
  readonly index: number
  process: SupervisedProcess | null
  /** Start time in Unix milliseconds. */
  startedAtMs: number
  workers: number
  ready: boolean
  readySinceMs: number
  failures: number
  /** Number of pings since the process's last message. */
  silentPings: number
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

export interface ServicePlace {
  /** Starts at 0. The first process also serves the pages. */
  readonly index: number
  /** Whether other processes listen on the same address, which the supervisor has claimed with the data folder. */
  readonly shared: boolean
  /** Metrics of all processes. @param own reads this process's metrics */
  readonly collectMetrics: (own: () => Promise<string>) => Promise<string>
  readonly control: ProcessControl
  /** Trial of a restored backup: no outgoing calls, and no leader task except for the log's tree. */
  readonly isTrial?: boolean
}
