// One of the places for processes that a supervisor has, and what stands in it.
import type { ProcessState } from '../admin/live/processes.ts'
import type { FromProcess, ToProcess } from './messages.ts'

export interface SupervisedProcess {
  readonly pid: number
  /** The supervisor's own process: nobody is there to find that it does not answer. */
  readonly own?: true
  /** Never throws: one that is ending does not hear it. */
  send(message: ToProcess): void
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
}

export interface ProcessListener {
  readonly onMessage: (message: FromProcess) => void
  /** Once, when it has ended; null when a signal ended it. */
  readonly onExit: (exitCode: number | null) => void
}

export interface Place {
  readonly index: number
  process: SupervisedProcess | null
  /** Unix milliseconds. */
  startedAtMs: number
  /** The workers it was told to have. */
  workers: number
  ready: boolean
  readySinceMs: number
  failures: number
  /** Pings since it last said anything. */
  silentPings: number
  /** It is being stopped on purpose. */
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
