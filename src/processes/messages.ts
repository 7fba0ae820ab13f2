// What a supervisor and its processes tell each other.
import type { LiveReading } from '../admin/live/point.ts'
import type { ProcessesLook, ProcessTarget } from '../admin/live/processes.ts'

export type FromProcess =
  /** It listens. */
  | { readonly type: 'ready' }
  /** Someone asked it for metrics: it wants those of all. */
  | { readonly type: 'collect'; readonly id: number }
  /** The answer to `ping`. */
  | { readonly type: 'pong' }
  /** Its own metrics, as asked for by `report`. */
  | { readonly type: 'metrics'; readonly id: number; readonly text: string }
  /** It wants to know how all are. */
  | { readonly type: 'look'; readonly id: number }
  /** There shall be so many from now on. Answered like `look`. */
  | { readonly type: 'resize'; readonly id: number; readonly target: ProcessTarget }
  /** Its own figures, as asked for by `show`; null before it has any. */
  | { readonly type: 'figures'; readonly id: number; readonly reading: LiveReading | null }

export type ToProcess =
  /** Does it still turn its loop? */
  | { readonly type: 'ping' }
  | { readonly type: 'report'; readonly id: number }
  | { readonly type: 'collected'; readonly id: number; readonly text: string }
  | { readonly type: 'show'; readonly id: number }
  | { readonly type: 'looked'; readonly id: number; readonly look: ProcessesLook }
  /** So many signing workers from now on. */
  | { readonly type: 'workers'; readonly workers: number }

/** Which of the processes one is; the first also serves the pages. */
export interface ProcessAssignment {
  readonly index: number
  /** The process id of whoever gave this assignment. */
  readonly supervisorPid: number
  readonly workers: number
  /** Where all of them listen, ports included. */
  readonly apiListen: string
  readonly portalListen: string
  readonly dashboardListen: string
}

/** The variable that carries an assignment. Not a setting: nobody sets it. */
export const ASSIGNMENT_VARIABLE = 'SUPERVISED_PROCESS'
