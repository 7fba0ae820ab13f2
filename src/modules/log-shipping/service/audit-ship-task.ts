// Ships the audit log from the leader, at the same interval as the decision log.

import type { LeaderTask } from '../../../cluster/leader.ts'
import { createRepeatedTask } from '../../../cluster/repeated-task.ts'
import { SettingInvalidError } from '../../../config/settings.ts'
import type { Timers } from '../../../lib/time.ts'
import { foreignSessionToken, openShipTarget } from '../../../object-store/ship-access.ts'
import type { Store } from '../../../store/store.ts'
import type { Logger } from '../../../telemetry/log.ts'
import { bucketAccessOf } from '../bucket-access.ts'
import type { ShipSettings } from '../settings.ts'
import { AuditDivergedError, shipAudit } from './audit-ship.ts'

interface AuditShipTaskDependencies {
  readonly config: ShipSettings
  readonly store: Pick<Store, 'audit' | 'deploymentId'>
  readonly after: Timers['after']
  readonly log: Pick<Logger, 'warn' | 'error' | 'info'>
}

/** @returns an empty array if logs are not shipped @throws SettingInvalidError, ShipAccessMissingError */
export const createAuditShipTasks = (dependencies: AuditShipTaskDependencies): readonly LeaderTask[] => {
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
        if (isFailing) log.info('shipping the audit log again')
        isFailing = false
      },
    }),
  ]
}
