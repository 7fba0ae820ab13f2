// Compares the audit log with its signed heads, to detect truncation, restoration and rewriting.

import type { DataFolder } from '../../../setup/data-folder.ts'
import { auditProblem } from '../../../store/audit.ts'
import type { Store } from '../../../store/store.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { openDecisionTreeReader } from '../store/open.ts'
import type { DecisionTreeReader } from '../store/reader.ts'
import { NoteInvalidError } from '../tree/note.ts'
import { openAuditHead } from '../verify/audit-head.ts'
import { isOfOtherLog, readHeadFile } from '../verify/tree-heads.ts'
import { type LogKey, readLogKey } from './log-key.ts'
import { treeTargetOf } from './tree-service.ts'

/** Returns problems, each with the location of the head. @param tree null if there is none yet */
export const auditHeadProblems = async (
  { audit }: Pick<Store, 'audit'>,
  { key }: Pick<LogKey, 'key'>,
  folder: Pick<DataFolder, 'auditHead'>,
  tree: Pick<DecisionTreeReader, 'auditHead'> | null,
): Promise<readonly string[]> => {
  const problems: string[] = []
  const heads = [
    { where: folder.auditHead, encoded: await readHeadFile(folder.auditHead) },
    { where: 'the audit head next to the tree', encoded: (await tree?.auditHead()) ?? null },
  ]
  for (const { where, encoded } of heads) {
    if (encoded === null || isOfOtherLog(encoded, key)) continue
    try {
      const problem = await auditProblem(audit, openAuditHead(encoded, key))
      if (problem !== null) problems.push(`${where}: the audit log was truncated, rolled back or rewritten: ${problem}`)
    } catch (error) {
      if (!(error instanceof NoteInvalidError)) throw error
      problems.push(`${where}: ${error.message}`)
    }
  }
  return problems
}

export const keptHeadProblems = async (
  store: Pick<Store, 'audit' | 'deployment'>,
  folder: Pick<DataFolder, 'auditHead' | 'keystores' | 'decisionTree'>,
  target: StoreTarget,
): Promise<readonly string[]> => {
  const logKey = await readLogKey(store.deployment, folder)
  if (logKey === null) return []
  const tree = await openDecisionTreeReader(treeTargetOf(target, folder))
  try {
    return await auditHeadProblems(store, logKey, folder, tree)
  } finally {
    await tree?.close()
  }
}
