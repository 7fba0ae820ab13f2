// Input of the decision index that all nodes share. PostgreSQL deployments have one unless a setting disables it.
import type { SharedIndexInput } from '../../workers/index/shared-index-input.ts'
import type { Config } from '../config/config.ts'
import type { ShippingService } from '../object-store/shipping.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import { locateStore } from '../setup/store-location.ts'

/** @returns null if the node indexes only its own decisions. @throws SettingInvalidError, ShipAccessMissingError */
export const sharedIndexOf = async (
  config: Pick<Config, 'store' | 'decisionsIndex'>,
  folder: DataFolder,
  shipping: ShippingService | null,
): Promise<SharedIndexInput | null> => {
  if (config.decisionsIndex === 'local') return null
  const target = await locateStore(config, folder)
  if (target.kind === 'sqlite') return null
  const place = shipping?.place ?? null
  return { target, place, access: place === null ? null : (shipping?.accessTo(place) ?? null) }
}
