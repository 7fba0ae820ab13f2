// Ships the node's decision log, by a process of its own at the lowest priority: it shares nothing with signing but the
// disk. Started by the node's first process; what came of it is counted for the metrics and said in the log once.
import { readFileSync } from 'node:fs'
import type { ShipInput, ShipReport } from '../../workers/ship/decision-ship-protocol.ts'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { ShipAccessMissingError } from '../decisions/ship-access.ts'
import { type BucketAccess, parseBucketCredentials } from '../decisions/ship-bucket.ts'
import type { ShipPlace } from '../decisions/ship-target.ts'
import type { Clock } from '../domain/time.ts'
import { sendToChild } from '../processes/send.ts'
import type { Logger } from '../telemetry/log.ts'
import type { ShipMetrics } from '../telemetry/ship-metrics.ts'

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

/** Null for a folder, which needs none. @throws SettingInvalidError, ShipAccessMissingError */
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

/** A variable whose session token the runtime's client would send along with other credentials; null where there is none. */
export const foreignSessionToken = (access: BucketAccess | null): string | null =>
  access?.sessionToken === null
    ? (['S3_SESSION_TOKEN', 'AWS_SESSION_TOKEN'].find((name) => (process.env[name] ?? '') !== '') ?? null)
    : null

export interface ShippingDependencies {
  readonly config: ShipSettings
  /** The decision log. */
  readonly directory: string
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Logger
}

export interface Shipping {
  metrics(): ShipMetrics
  /** Ships what was written last, if that is soon done, and ends. */
  stop(): Promise<void>
}

const FINISH_MS = 5_000
const FIRST_RESTART_MS = 1_000
const LONGEST_RESTART_MS = 60_000
const ENTRY = Bun.fileURLToPath(new URL('../../workers/ship/decision-ship.process.ts', import.meta.url))

/** Null where nothing is to be shipped. @throws SettingInvalidError when the credentials are missing or malformed. */
export const startShipping = ({ config, directory, clock, log }: ShippingDependencies): Shipping | null => {
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
  let isFailing = false
  let restartMs = FIRST_RESTART_MS
  let timer: ReturnType<typeof setTimeout> | undefined
  let child: Bun.Subprocess | null = null
  let stopped = false

  const noteFailure = (errorClass: string): void => {
    totals.failures += 1
    if (!isFailing) log.warn('the decision log could not be shipped; it is tried again', { errorClass })
    isFailing = true
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
    if (isFailing) log.info('the decision log is shipped again')
    isFailing = false
    restartMs = FIRST_RESTART_MS
    caughtUpMs = clock.monotonicMs() - report.tookMs
  }

  const startLater = (reason: string): void => {
    child = null
    if (stopped) return
    noteFailure(reason)
    timer = setTimeout(start, restartMs)
    timer.unref()
    restartMs = Math.min(restartMs * 2, LONGEST_RESTART_MS)
  }

  const start = (): void => {
    ofProcess = { bytes: 0, segments: 0 }
    try {
      child = Bun.spawn([process.execPath, ENTRY], {
        // Neither a secret nor a proxy of the service's environment.
        env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
        stdin: new TextEncoder().encode(JSON.stringify(input)),
        stdout: 'ignore',
        stderr: 'ignore',
        serialization: 'json',
        ipc: (report: ShipReport) => take(report),
        onExit: () => startLater('the process ended'),
      })
    } catch {
      // No memory, or no process left to have: in a timer it would end this process.
      startLater('the process could not be started')
    }
  }

  start()
  return {
    metrics: () => ({
      lagSeconds: (clock.monotonicMs() - caughtUpMs) / 1_000,
      unshippedBytes: totals.unshipped,
      shippedBytes: totals.bytes,
      shippedSegments: totals.segments,
      failures: totals.failures,
    }),
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      const running = child
      if (running === null) return
      sendToChild(running, 'finish')
      const cut = setTimeout(() => running.kill('SIGKILL'), FINISH_MS)
      await running.exited
      clearTimeout(cut)
    },
  }
}
