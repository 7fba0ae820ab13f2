// Ships the node's decision log in a process of its own at the lowest priority, which shares only the disk with signing. The node's
// first process starts it, counts its results for the metrics, and logs each change once.
import { readFileSync } from 'node:fs'
import { type BackgroundChild, jsonInput, startBackgroundChild } from '../../../cluster/background-child.ts'
import type { Config } from '../../../config/config.ts'
import { SettingInvalidError } from '../../../config/settings.ts'
import type { Clock, Timers } from '../../../lib/time.ts'
import { ShipAccessMissingError } from '../../../object-store/ship-access.ts'
import { type BucketAccess, parseBucketCredentials } from '../../../object-store/ship-bucket.ts'
import type { ShipPlace } from '../../../object-store/ship-target.ts'
import { keepProcess } from '../../../program/kept-process.ts'
import { createFailureLog } from '../../../telemetry/failure-log.ts'
import type { Logger } from '../../../telemetry/log.ts'
import type { ShipMetrics } from '../../../telemetry/ship-metrics.ts'
import type { ShipInput, ShipOrder, ShipReport } from '../worker/decision-ship-protocol.ts'

export type ShipSettings = Pick<
  Config,
  | 'decisionsShip'
  | 'decisionsShipEndpoint'
  | 'decisionsShipRegion'
  | 'decisionsShipCredentials'
  | 'decisionsShipIntervalSeconds'
>

const CREDENTIALS = 'COUNTERSIGN_DECISIONS_SHIP_CREDENTIALS'

const readCredentials = (source: NonNullable<Config['decisionsShipCredentials']>): string => {
  if (source.source === 'environment') return process.env[source.name] ?? ''
  try {
    return readFileSync(source.path, 'utf8')
  } catch {
    throw new SettingInvalidError(`${CREDENTIALS}_FILE can't be read: ${source.path}`)
  }
}

/** @returns null for a folder, which needs no credentials. @throws SettingInvalidError, ShipAccessMissingError */
export const bucketAccessOf = (config: ShipSettings, place: ShipPlace): BucketAccess | null => {
  if (place.kind === 'folder') return null
  const { decisionsShipCredentials: source, decisionsShipEndpoint: endpoint, decisionsShipRegion: region } = config
  if (source === null) throw new ShipAccessMissingError(`a bucket needs ${CREDENTIALS} or ${CREDENTIALS}_FILE`)
  try {
    return { endpoint: endpoint === '' ? null : endpoint, region, ...parseBucketCredentials(readCredentials(source)) }
  } catch (error) {
    if (error instanceof SettingInvalidError) throw error
    throw new SettingInvalidError(`${CREDENTIALS} ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}

/** @returns the variable with a session token of other credentials, which Bun's client would send as well; null: none */
export const foreignSessionToken = (access: BucketAccess | null): string | null =>
  access?.sessionToken === null
    ? (['S3_SESSION_TOKEN', 'AWS_SESSION_TOKEN'].find((name) => (process.env[name] ?? '') !== '') ?? null)
    : null

export interface ShippingDependencies {
  readonly config: ShipSettings
  /** The decision log. */
  readonly directory: string
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly after: Timers['after']
  readonly log: Logger
}

export interface Shipping {
  metrics(): ShipMetrics
  /** Ships the last lines, within a time limit, and ends the process. */
  stop(): Promise<void>
}

const FINISH_MS = 5_000
const FIRST_RESTART_MS = 1_000
const LONGEST_RESTART_MS = 60_000

/** @returns null when no ship target is set. @throws SettingInvalidError when the credentials are missing or malformed */
export const startShipping = (dependencies: ShippingDependencies): Shipping | null => {
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
    failed: 'the decision log could not be shipped; it is tried again',
    works: 'the decision log is shipped again',
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
    metrics: () => ({
      lagSeconds: (clock.monotonicMs() - caughtUpMs) / 1_000,
      unshippedBytes: totals.unshipped,
      shippedBytes: totals.bytes,
      shippedSegments: totals.segments,
      failures: totals.failures,
    }),
    stop: async () => {
      kept.close()
      await kept.running()?.end('finish', FINISH_MS)
    },
  }
}
