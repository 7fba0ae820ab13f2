// The tree's part of a verification, for the command and for the dashboard's task: the log against the tree, and the tree and the
// audit log against their heads that were kept.

import { knownNodeName } from '../../../decision-log/node-name.ts'
import type { CheckedLogs, TreeReport } from '../../../decision-log/tree-report.ts'
import { type VerifyTreeOptions, verifyTree } from './verify-tree.ts'

export interface TreeToCheck extends Pick<VerifyTreeOptions, 'key' | 'saltKey' | 'heads' | 'onChunk'> {
  /** Null: no service has made a tree yet. */
  readonly tree: VerifyTreeOptions['tree'] | null
  /** How the audit log differs from its heads that are kept beside the tree's. */
  readonly auditProblems: readonly string[]
  /** What of the heads could not be looked at. */
  readonly warnings: readonly string[]
  /** A time: files from before may be gone. */
  readonly archivedBefore: string | null
}

const stampOf = (time: string): string => new Date(time).toISOString().replaceAll('-', '').replaceAll(':', '')

/** Problems are data. @throws as verifyTree */
export const checkTree = async (
  { tree, auditProblems, warnings, archivedBefore, ...facts }: TreeToCheck,
  logs: CheckedLogs,
): Promise<TreeReport> => {
  if (tree === null) {
    const problems = [...facts.heads.map(({ where }) => `${where} is of a tree that is gone`), ...auditProblems]
    const none = { size: 0, compared: 0, newer: 0, elsewhere: 0 }
    return { ...none, ok: problems.length === 0, problems, warnings: ['there is no tree yet', ...warnings] }
  }
  const isLocal = typeof logs === 'string'
  const nodes = new Set((await tree.segments()).map(({ node }) => node))
  // A log whose name is gone with the rest of it is the only node's, where there is one.
  const nodeOf = (directory: string): string => knownNodeName(directory) ?? (nodes.size === 1 ? [...nodes].join() : '')
  const report = await verifyTree({
    tree,
    ...facts,
    logs: isLocal ? [{ node: nodeOf(logs), directory: logs }] : logs,
    mayBeBehind: !isLocal,
    archivedBefore: archivedBefore === null ? null : stampOf(archivedBefore),
  })
  const problems = [...report.problems, ...auditProblems]
  return { ...report, ok: problems.length === 0, problems, warnings: [...report.warnings, ...warnings] }
}
