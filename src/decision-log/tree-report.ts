// The comparison of a log with the signed tree over it.

/** A log's folder, or the copies of the logs of all nodes. */
export type CheckedLogs = string | readonly { readonly node: string; readonly directory: string }[]

export interface TreeReport {
  readonly ok: boolean
  /** Number of lines of all nodes that the newest head covers. */
  readonly size: number
  /** Lines that were compared, and found as the tree has them. */
  readonly compared: number
  /** Lines of the logs that are newer than the newest head. */
  readonly newer: number
  /** Lines that the head covers and that were not looked for: of other nodes, or archived. */
  readonly elsewhere: number
  /** In words, each with its place. */
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}
