// What a supervisor and its processes tell each other.

export type FromProcess =
  /** It listens. */
  | { readonly type: 'ready' }
  /** Someone asked it for metrics: it wants those of all. */
  | { readonly type: 'collect'; readonly id: number }
  /** The answer to `ping`. */
  | { readonly type: 'pong' }
  /** Its own metrics, as asked for by `report`. */
  | { readonly type: 'metrics'; readonly id: number; readonly text: string }

export type ToProcess =
  /** Does it still turn its loop? */
  | { readonly type: 'ping' }
  | { readonly type: 'report'; readonly id: number }
  | { readonly type: 'collected'; readonly id: number; readonly text: string }

/** Which of the processes one is; the first also serves the pages and does the chores. */
export interface ProcessAssignment {
  readonly index: number
  readonly count: number
  readonly workers: number
  /** Where all of them listen, ports included. */
  readonly apiListen: string
  readonly portalListen: string
  readonly dashboardListen: string
}

/** The variable that carries an assignment. Not a setting: nobody sets it. */
export const ASSIGNMENT_VARIABLE = 'SUPERVISED_PROCESS'
