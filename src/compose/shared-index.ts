// Whether all nodes share a decision index, and what its processes need for it. With PostgreSQL they do, unless a setting says no.
import type { SharedIndexInput } from '../../workers/index/shared-index-input.ts'
import type { Config } from '../config/config.ts'
import { bucketAccessOf, type ShipSettings } from '../modules/log-shipping/service/ship-service.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import { locateStore } from '../setup/store-location.ts'

/** @returns null when the node indexes its own decisions only. @throws SettingInvalidError, ShipAccessMissingError */
export const sharedIndexOf = async (
  config: Pick<Config, 'store' | 'decisionsIndex'> & ShipSettings,
  folder: DataFolder,
): Promise<SharedIndexInput | null> => {
  if (config.decisionsIndex === 'local') return null
  const target = await locateStore(config, folder)
  if (target.kind === 'sqlite') return null
  const place = config.decisionsShip
  return { target, place, access: place === null ? null : bucketAccessOf(config, place) }
}
