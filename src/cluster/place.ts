// Position in a supervisor's list of processes, and the process in it.
import type { ProcessState } from '../admin/live/processes.ts'
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
