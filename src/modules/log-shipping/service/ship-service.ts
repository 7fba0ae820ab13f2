// Ships the decision log in a process with the lowest priority.
import { type BackgroundChild, jsonInput, startBackgroundChild } from '../../../cluster/background-child.ts'
import { SettingInvalidError } from '../../../config/settings.ts'
import type { Clock, Timers } from '../../../lib/time.ts'
import { ShipAccessMissingError } from '../../../object-store/ship-access.ts'
import type { BucketAccess } from '../../../object-store/ship-bucket.ts'
import { keepProcess } from '../../../program/kept-process.ts'
import { createFailureLog } from '../../../telemetry/failure-log.ts'
import type { Logger } from '../../../telemetry/log.ts'
import { bucketAccessOf, type ShipSettings } from '../settings.ts'
import type { ShipInput, ShipOrder, ShipReport } from '../worker/decision-ship-protocol.ts'
import type { ShipMetrics } from './ship-metrics.ts'

interface ShippingDependencies {
  readonly config: ShipSettings
  readonly directory: string
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly after: Timers['after']
  readonly log: Logger
}

const FINISH_MS = 5_000
const FIRST_RESTART_MS = 1_000
const LONGEST_RESTART_MS = 60_000

/** Returns null if there is no target. @throws SettingInvalidError if the credentials are missing or malformed */
export const startShipping = (dependencies: ShippingDependencies) => {
  const { config, directory, clock, after, log } = dependencies
  const place = config.decisionsShip
  if (place === null) return null
  let access: BucketAccess | null
  try {
    access = bucketAccessOf(config, place)
  } catch (error) {
    if (error instanceof ShipAccessMissingError) throw new SettingInvalidError(error.message)
    throw error
  }
  const input: ShipInput = { directory, place, access, intervalMs: config.decisionsShipIntervalSeconds * 1_000 }
  const totals = { bytes: 0, segments: 0, failures: 0, unshipped: 0 }
  let ofProcess = { bytes: 0, segments: 0 }
  let caughtUpMs = clock.monotonicMs()

  const outcome = createFailureLog(log, {
    failed: 'could not ship the decision log; will retry',
    works: 'resumed shipping the decision log',
  })
  const noteFailure = (errorClass: string): void => {
    totals.failures += 1
    outcome.failed(errorClass)
  }

  const take = (report: ShipReport): void => {
    totals.bytes += report.bytesShipped - ofProcess.bytes
    totals.segments += report.segmentsShipped - ofProcess.segments
    ofProcess = { bytes: report.bytesShipped, segments: report.segmentsShipped }
    if (report.bytesUnshipped !== null) totals.unshipped = report.bytesUnshipped
    if (!report.complete) {
      noteFailure(report.errorClass ?? 'unknown')
      return
    }
    outcome.works()
    kept.works()
    caughtUpMs = clock.monotonicMs() - report.tookMs
  }

  const start = (onExit: () => void): BackgroundChild<ShipOrder> => {
    ofProcess = { bytes: 0, segments: 0 }
    return startBackgroundChild<ShipReport, ShipOrder>({
      commandLine: ['src/modules/log-shipping/worker/decision-ship.process.ts'],
      input: jsonInput(input),
      onMessage: take,
      onExit,
    })
  }
  const kept = keepProcess({
    start,
    after,
    firstRestartMs: FIRST_RESTART_MS,
    longestRestartMs: LONGEST_RESTART_MS,
    onLost: noteFailure,
  })

  return {
    metrics: (): ShipMetrics => ({
      lagSeconds: (clock.monotonicMs() - caughtUpMs) / 1_000,
      unshippedBytes: totals.unshipped,
      shippedBytes: totals.bytes,
      shippedSegments: totals.segments,
      failures: totals.failures,
    }),
    stop: async (): Promise<void> => {
      kept.close()
      await kept.running()?.end('finish', FINISH_MS)
    },
  }
}
