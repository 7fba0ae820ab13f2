// Opens the tree over the decision log on first use, for all readers of this process.
import { DependencyUnavailableError } from '../../../domain/errors.ts'
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
  type Opened = NonNullable<Awaited<ReturnType<typeof openDecisionTreeReader>>>
  let opened: Promise<Opened> | null = null
  const open = async (): Promise<Opened> => {
    const tree = await openDecisionTreeReader(treeTargetOf(target, folder))
    if (tree === null) throw new DependencyUnavailableError('the log has no tree yet; retry')
    return tree
  }
  return {
    open: () => {
      // After a failure, the next call tries again.
      opened ??= open().catch((error: unknown) => {
        opened = null
        throw error
      })
      return opened
    },
    close: async () => {
      await (await opened)?.close()
    },
  }
}
