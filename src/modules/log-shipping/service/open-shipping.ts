// Ships the node's decision log from its first process, and the audit log from the leader.
import type { AttestationParts, ModuleCore } from '../../../module-interface/module.ts'
import { shipSettingsOf } from '../settings.ts'
import { createAuditShipTasks } from './audit-ship-task.ts'
import { addShipMetrics } from './ship-metrics.ts'
import { startShipping } from './ship-service.ts'

export const openShipping = (core: ModuleCore): AttestationParts => {
  const { folder, store, isFirst, isTrial, clock, after, log } = core
  const config = shipSettingsOf(core.config)
  const shipping = isFirst ? startShipping({ config, directory: folder.decisions, clock, after, log }) : null
  return {
    addMetrics: (exposition) => addShipMetrics(exposition, () => shipping?.metrics() ?? null),
    leaderTasks: isTrial ? [] : createAuditShipTasks({ config, store, log, after }),
    // Runs after the pool has stopped, to ship its last lines.
    stop: async () => shipping?.stop(),
  }
}
