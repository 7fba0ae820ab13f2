// Inputs of a log verification: the tree's tables, its key, and heads stored elsewhere.

import type { ShipTarget } from '../../../object-store/ship-target.ts'
import type { DataFolder } from '../../../setup/data-folder.ts'
import type { Store } from '../../../store/store.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { openDecisionTreeReader } from '../store/open.ts'
import type { DecisionTreeReader } from '../store/reader.ts'
import { isOfOtherLog, readHeadFile, readShippedHead } from '../verify/tree-heads.ts'
import type { KeptHead } from '../verify/verify-tree.ts'
import { auditHeadProblems } from './audit-head.ts'
import { type LogKey, readLogKey } from './log-key.ts'
import { STORED_HEAD, treeTargetOf } from './tree-service.ts'

export interface TreeAccess extends Pick<LogKey, 'key' | 'saltKey'> {
  readonly tree: DecisionTreeReader | null
  readonly heads: readonly KeptHead[]
  readonly auditProblems: readonly string[]
  readonly warnings: readonly string[]
  readonly isSingleNode: boolean
  close(): Promise<void>
}

interface TreeAccessOptions {
  readonly store: Pick<Store, 'deployment' | 'audit'>
  readonly folder: Pick<DataFolder, 'keystores' | 'decisionTree' | 'decisionTreeHead' | 'auditHead'>
  readonly target: StoreTarget
  readonly shipTarget: (() => ShipTarget) | null
}

/** Returns null if the service has never started. @throws errors from opening the store */
export const openTreeAccess = async (options: TreeAccessOptions): Promise<TreeAccess | null> => {
  const { store, folder, target, shipTarget } = options
  const warnings: string[] = []
  const logKey = await readLogKey(store.deployment, folder)
  if (logKey === null) return null
  const stored = await store.deployment.read(STORED_HEAD)
  const inFile = await readHeadFile(folder.decisionTreeHead)
  const isForeign = inFile !== null && isOfOtherLog(inFile, logKey.key)
  if (isForeign) warnings.push(`${folder.decisionTreeHead}: the head belongs to another log and was not compared`)
  const shipped =
    shipTarget === null
      ? null
      : await readShippedHead(shipTarget(), logKey.key).catch(() => {
          warnings.push('the shipping target does not respond: the shipped head was not compared')
          return null
        })
  const heads = [
    { where: folder.decisionTreeHead, checkpoint: isForeign ? null : inFile },
    { where: 'the head in the store', checkpoint: stored },
    { where: 'the shipped head', checkpoint: shipped },
  ].flatMap(({ where, checkpoint }): KeptHead[] =>
    checkpoint === null || checkpoint === '' ? [] : [{ where, checkpoint }],
  )
  // Opened after the heads are read, because the growing tree must contain them.
  const tree = await openDecisionTreeReader(treeTargetOf(target, folder))
  const close = async (): Promise<void> => {
    await tree?.close()
  }
  try {
    const auditProblems = await auditHeadProblems(store, logKey, folder, tree)
    const isSingleNode = target.kind === 'sqlite'
    return { key: logKey.key, saltKey: logKey.saltKey, tree, heads, auditProblems, warnings, isSingleNode, close }
  } catch (error) {
    await close()
    throw error
  }
}
