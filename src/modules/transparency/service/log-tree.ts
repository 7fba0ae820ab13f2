// Opens the tree of the decision log on first use, for all readers of this process.

import { DependencyUnavailableError } from '../../../domain/errors.ts'
import { onceMade } from '../../../lib/once.ts'
import type { DataFolder } from '../../../setup/data-folder.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { openDecisionTreeReader } from '../store/open.ts'
import type { DecisionTreeReader } from '../store/reader.ts'
import { treeTargetOf } from './tree-service.ts'

export interface LogTree {
  /** @throws DependencyUnavailableError before the first head */
  open(): Promise<DecisionTreeReader>
  close(): Promise<void>
}

export const createLogTree = (target: StoreTarget, folder: Pick<DataFolder, 'decisionTree'>): LogTree => {
  let opened: Awaited<ReturnType<typeof openDecisionTreeReader>> = null
  return {
    open: onceMade(async () => {
      opened = await openDecisionTreeReader(treeTargetOf(target, folder))
      if (opened === null) throw new DependencyUnavailableError('the log has no tree yet; retry in a second')
      return opened
    }),
    close: async () => opened?.close(),
  }
}
