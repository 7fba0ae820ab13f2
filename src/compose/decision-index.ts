// Opens the decision index. Each node that serves attestations or the dashboard updates it from its own log.

import type { SharedIndexInput } from '../../workers/index/shared-index-input.ts'
import { createAskedProcess, type IndexEvent } from '../admin/decisions/index-process.ts'
import { createDecisionSearch, type DecisionSearch } from '../admin/decisions/search.ts'
import type { Config } from '../config/config.ts'
import { systemTimers } from '../lib/time.ts'
import type { ShippingService } from '../object-store/ship-access.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import { locateStore } from '../setup/store-location.ts'
import type { Logger } from '../telemetry/log.ts'
import { spawnIndexProcess } from './admin-processes.ts'

/** Returns null if the node indexes only its own decisions. @throws SettingInvalidError, ShipAccessMissingError */
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

/** Returns null if this process needs no index. @throws SettingInvalidError, ShipAccessMissingError */
export const openDecisionIndex = async (
  config: Pick<Config, 'serve' | 'store' | 'decisionsIndex'>,
  folder: DataFolder,
  shipping: ShippingService | null,
  log: Pick<Logger, 'warn'>,
): Promise<{ readonly search: DecisionSearch | null; close(): void } | null> => {
  const searches = config.serve.has('dashboard')
  if (!searches && !config.serve.has('attestation')) return null
  const spawn = spawnIndexProcess(folder, await sharedIndexOf(config, folder, shipping))
  const { after } = systemTimers
  const onEvent = (event: IndexEvent): void => log.warn('the decision index failed; will retry', event)
  if (searches) {
    const search = createDecisionSearch({ spawn, after, onEvent })
    return { search, close: search.close }
  }
  const { close } = createAskedProcess({ spawn: (listener) => spawn('build', listener), after, onEvent })
  return { search: null, close }
}
