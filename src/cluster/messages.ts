import type { LiveReading } from '../admin/live/point.ts'
import type { ProcessesLook, ProcessTarget } from '../admin/live/processes.ts'

export type FromProcess =
  | { readonly type: 'ready' }
  | { readonly type: 'collect'; readonly id: number }
  | { readonly type: 'pong' }
  | { readonly type: 'metrics'; readonly id: number; readonly text: string }
  | { readonly type: 'look'; readonly id: number }
  /** The response is the same as to `look`. */
  | { readonly type: 'resize'; readonly id: number; readonly target: ProcessTarget }
  /** The process's figures, requested by `show`; null until there are any. */
  | { readonly type: 'figures'; readonly id: number; readonly reading: LiveReading | null }

export type ToProcess =
  | { readonly type: 'ping' }
  | { readonly type: 'report'; readonly id: number }
  | { readonly type: 'collected'; readonly id: number; readonly text: string }
  | { readonly type: 'show'; readonly id: number }
  | { readonly type: 'looked'; readonly id: number; readonly look: ProcessesLook }
  | { readonly type: 'workers'; readonly workers: number }

/** The process with index 0 also serves the pages. */
export interface ProcessAssignment {
  readonly index: number
  readonly supervisorPid: number
  readonly workers: number
  /** Listen address, with port, that all processes share. */
  readonly apiListen: string
  readonly portalListen: string
  readonly dashboardListen: string
}

/** Environment variable with the assignment; not a setting. */
export const ASSIGNMENT_VARIABLE = 'SUPERVISED_PROCESS'
