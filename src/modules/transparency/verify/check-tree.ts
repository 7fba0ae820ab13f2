// Verifies the log against its tree, and the tree and the audit log against stored heads.

import { knownNodeName } from '../../../decision-log/node-name.ts'
import type { CheckedLogs, TreeReport } from '../../../decision-log/tree-report.ts'
import { type VerifyTreeOptions, verifyTree } from './verify-tree.ts'

export interface TreeToCheck extends Pick<VerifyTreeOptions, 'key' | 'saltKey' | 'heads' | 'onChunk'> {
  readonly tree: VerifyTreeOptions['tree'] | null
  readonly auditProblems: readonly string[]
  readonly warnings: readonly string[]
  /** ISO time; older files may be missing. */
  readonly archivedBefore: string | null
  readonly isSingleNode: boolean
}

const stampOf = (time: string): string => new Date(time).toISOString().replaceAll('-', '').replaceAll(':', '')

/** Returns problems. @throws errors of verifyTree */
export const checkTree = async (
  { tree, auditProblems, warnings, archivedBefore, isSingleNode, ...facts }: TreeToCheck,
  logs: CheckedLogs,
): Promise<TreeReport> => {
  if (tree === null) {
    const problems = [
      ...facts.heads.map(({ where }) => `${where} belongs to a tree that no longer exists`),
      ...auditProblems,
    ]
    const none = { size: 0, compared: 0, newer: 0, elsewhere: 0 }
    return { ...none, ok: problems.length === 0, problems, warnings: ['no tree exists yet', ...warnings] }
  }
  const isLocal = typeof logs === 'string'
  // The name in the log alone must not decide which lines of the tree are compared with it.
  const nodeOf = (directory: string): string | null => (isSingleNode ? null : (knownNodeName(directory) ?? ''))
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
