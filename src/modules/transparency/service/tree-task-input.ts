// What a task's process needs to compare the decision log with its tree.
import type { TreeTaskInput } from '../../../../workers/tasks/task-input.ts'
import { openShipTarget } from '../../../object-store/ship-access.ts'
import type { DataFolder } from '../../../setup/data-folder.ts'
import type { Store } from '../../../store/store.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { bucketAccessOf, type ShipSettings } from '../../log-shipping/service/ship-service.ts'
import { encodeVerifierKey } from '../tree/note.ts'
import { openTreeAccess } from './tree-access.ts'
import { treeTargetOf } from './tree-service.ts'

export interface TreeTaskDependencies {
  readonly store: Pick<Store, 'deployment' | 'audit'>
  readonly folder: Pick<DataFolder, 'keystores' | 'decisionTree' | 'decisionTreeHead' | 'auditHead'>
  readonly target: StoreTarget
  readonly ship: ShipSettings
}

/** The tree and heads to compare the log with; null before a start has made a tree. */
export const readTreeTaskInput = async ({
  store,
  folder,
  target,
  ship,
}: TreeTaskDependencies): Promise<TreeTaskInput | null> => {
  const place = ship.decisionsShip
  const access = await openTreeAccess({
    store,
    folder,
    target,
    shipTarget: place === null ? null : () => openShipTarget(place, bucketAccessOf(ship, place)),
  })
  if (access === null) return null
  await access.close()
  const { key, saltKey, heads, auditProblems, warnings } = access
  return {
    target: treeTargetOf(target, folder),
    key: encodeVerifierKey(key),
    saltKey: Buffer.from(saltKey).toString('hex'),
    heads,
    auditProblems,
    warnings,
  }
}
