/** Directory of a log, or copies of the logs of all nodes. */
export type CheckedLogs = string | readonly { readonly node: string; readonly directory: string }[]

export interface TreeReport {
  readonly ok: boolean
  /** Number of lines from all nodes that the newest head covers. */
  readonly size: number
  readonly compared: number
  readonly newer: number
  /** Number of covered lines that were not checked, because they are archived or belong to other nodes. */
  readonly elsewhere: number
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}
