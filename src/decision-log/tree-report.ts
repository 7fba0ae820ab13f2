// Result of comparing a log with its signed tree.

/** Directory of a log, or copies of the logs of all nodes. */
export type CheckedLogs = string | readonly { readonly node: string; readonly directory: string }[]

export interface TreeReport {
  readonly ok: boolean
  /** Number of lines of all nodes that the newest head covers. */
  readonly size: number
  /** Number of lines that match the tree. */
  readonly compared: number
  /** Number of lines newer than the newest head. */
  readonly newer: number
  /** Number of covered lines that were not checked, because they are archived or belong to other nodes. */
  readonly elsewhere: number
  /** Descriptions of problems, each with its position. */
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}
