// Reported by the node's first process.
import type { Exposition } from '../../../telemetry/exposition.ts'
import { defineMetric } from '../../../telemetry/metric-table.ts'

export const SHIP_METRICS = {
  shipLag: defineMetric(
    'countersign_decision_shipping_lag_seconds',
    'gauge',
    'Seconds since the complete decision log was last shipped. Present only if shipping is configured.',
  ),
  shipUnshipped: defineMetric(
    'countersign_decision_shipping_unshipped_bytes',
    'gauge',
    'Bytes of the decision log not yet shipped at the last check.',
  ),
  shipBytes: defineMetric(
    'countersign_decision_shipping_bytes_total',
    'counter',
    'Bytes written to the target and verified.',
  ),
  shipSegments: defineMetric(
    'countersign_decision_shipping_segments_total',
    'counter',
    'Closed segments of the decision log that were shipped completely.',
  ),
  shipFailures: defineMetric(
    'countersign_decision_shipping_failures_total',
    'counter',
    'Failed attempts to ship the complete decision log, which are retried.',
  ),
}

export interface ShipMetrics {
  /** Time since the complete log was last shipped. */
  readonly lagSeconds: number
  readonly unshippedBytes: number
  readonly shippedBytes: number
  readonly shippedSegments: number
  readonly failures: number
}

const READINGS = [
  [SHIP_METRICS.shipLag, 'lagSeconds'],
  [SHIP_METRICS.shipUnshipped, 'unshippedBytes'],
  [SHIP_METRICS.shipBytes, 'shippedBytes'],
  [SHIP_METRICS.shipSegments, 'shippedSegments'],
  [SHIP_METRICS.shipFailures, 'failures'],
] as const

export const addShipMetrics = (exposition: Exposition, read: () => ShipMetrics | null): void => {
  for (const [metric, member] of READINGS) {
    exposition.add(metric, () => {
      const metrics = read()
      return metrics === null ? [] : [{ labels: {}, value: metrics[member] }]
    })
  }
}
