// The node's first process ships its decision log; the leader ships the audit log.

import type { LeaderTask } from '../../../cluster/leader.ts'
import { createRepeatedTask } from '../../../cluster/repeated-task.ts'
import { SettingInvalidError } from '../../../config/settings.ts'
import type { Timers } from '../../../lib/time.ts'
import type { AttestationParts, ModuleCore } from '../../../module-interface/module.ts'
import { foreignSessionToken, openShipTarget } from '../../../object-store/ship-access.ts'
import type { Store } from '../../../store/store.ts'
import type { Logger } from '../../../telemetry/log.ts'
import { bucketAccessOf, type ShipSettings, shipSettingsOf } from '../settings.ts'
import { AuditDivergedError, shipAudit } from './audit-ship.ts'
import { addShipMetrics } from './ship-metrics.ts'
import { startShipping } from './ship-service.ts'

interface AuditShipTaskDependencies {
  readonly config: ShipSettings
  readonly store: Pick<Store, 'audit' | 'deploymentId'>
  readonly after: Timers['after']
  readonly log: Pick<Logger, 'warn' | 'error' | 'info'>
}

const createAuditShipTasks = (dependencies: AuditShipTaskDependencies): readonly LeaderTask[] => {
  const { config, store, after, log } = dependencies
  const place = config.decisionsShip
  if (place === null) return []
  const access = bucketAccessOf(config, place)
  const foreign = foreignSessionToken(access)
  if (foreign !== null) {
    throw new SettingInvalidError(`${foreign} belongs to other credentials: unset it in the environment of the service`)
  }
  const target = openShipTarget(place, access)
  let isFailing = false
  const report = (error: unknown): void => {
    if (isFailing) return
    isFailing = true
    if (error instanceof AuditDivergedError) log.error('stopped shipping the audit log', { reason: error.message })
    else log.warn('could not ship the audit log; will retry', { error })
  }
  return [
    createRepeatedTask({
      name: 'shipping the audit log',
      intervalMs: config.decisionsShipIntervalSeconds * 1_000,
      after,
      onError: report,
      work: async () => {
        await shipAudit({ target, deploymentId: store.deploymentId, audit: store.audit })
        if (isFailing) log.info('resumed shipping the audit log')
        isFailing = false
      },
    }),
  ]
}

export const openShipping = (core: ModuleCore): AttestationParts => {
  const { folder, store, isFirst, isTrial, clock, after, log } = core
  const config = shipSettingsOf(core.config)
  const shipping = isFirst ? startShipping({ config, directory: folder.decisions, clock, after, log }) : null
  return {
    addMetrics: (exposition) => addShipMetrics(exposition, () => shipping?.metrics() ?? null),
    leaderTasks: isTrial ? [] : createAuditShipTasks({ config, store, log, after }),
    // Called after the pool has stopped, to ship its last lines.
    stop: async () => shipping?.stop(),
  }
}
