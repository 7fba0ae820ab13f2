// The messages between a supervisor and its processes.
import type { LiveReading } from '../admin/live/point.ts'
import type { ProcessesLook, ProcessTarget } from '../admin/live/processes.ts'

export type FromProcess =
  /** The process listens. */
  | { readonly type: 'ready' }
  /** The process was asked for metrics and wants those of all processes. */
  | { readonly type: 'collect'; readonly id: number }
  /** The answer to `ping`. */
  | { readonly type: 'pong' }
  /** The process's own metrics, requested by `report`. */
  | { readonly type: 'metrics'; readonly id: number; readonly text: string }
  /** The process wants the state of all processes. */
  | { readonly type: 'look'; readonly id: number }
  /** Sets the number of processes. Answered like `look`. */
  | { readonly type: 'resize'; readonly id: number; readonly target: ProcessTarget }
  /** The process's own figures, requested by `show`; null before it has any. */
  | { readonly type: 'figures'; readonly id: number; readonly reading: LiveReading | null }

export type ToProcess =
  /** Checks that the process still runs its event loop. */
  | { readonly type: 'ping' }
  | { readonly type: 'report'; readonly id: number }
  | { readonly type: 'collected'; readonly id: number; readonly text: string }
  | { readonly type: 'show'; readonly id: number }
  | { readonly type: 'looked'; readonly id: number; readonly look: ProcessesLook }
  /** Sets the number of signing workers. */
  | { readonly type: 'workers'; readonly workers: number }

/** What a supervisor tells a process that it starts. The process with index 0 also serves the pages. */
export interface ProcessAssignment {
  readonly index: number
  /** Process id of the supervisor that gave this assignment. */
  readonly supervisorPid: number
  readonly workers: number
  /** The address on which all of them listen, with its port. */
  readonly apiListen: string
  readonly portalListen: string
  readonly dashboardListen: string
}

/** The environment variable that carries an assignment. It is not a setting. */
export const ASSIGNMENT_VARIABLE = 'SUPERVISED_PROCESS'
