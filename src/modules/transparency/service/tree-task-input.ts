// What a task's process needs to compare the decision log with its tree.
import type { TreeTaskInput } from '../../../../workers/tasks/task-input.ts'
import type { Config } from '../../../config/config.ts'
import { openShipTarget } from '../../../object-store/ship-access.ts'
import type { DataFolder } from '../../../setup/data-folder.ts'
import type { Store } from '../../../store/store.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { bucketAccessOf } from '../../log-shipping/bucket-access.ts'
import { shipSettingsOf } from '../../log-shipping/settings.ts'
import { encodeVerifierKey } from '../tree/note.ts'
import { openTreeAccess } from './tree-access.ts'
import { treeTargetOf } from './tree-service.ts'

export interface TreeTaskDependencies {
  readonly store: Pick<Store, 'deployment' | 'audit'>
  readonly folder: Pick<DataFolder, 'keystores' | 'decisionTree' | 'decisionTreeHead' | 'auditHead'>
  readonly target: StoreTarget
  readonly config: Pick<Config, 'of' | 'modules'>
}

/** The tree and heads to compare the log with; null before a start has made a tree. */
export const readTreeTaskInput = async ({
  store,
  folder,
  target,
  config,
}: TreeTaskDependencies): Promise<TreeTaskInput | null> => {
  const ship = shipSettingsOf(config)
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
