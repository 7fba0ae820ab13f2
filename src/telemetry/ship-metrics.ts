// Metrics of how far the shipped copies are behind the decision log, reported by the node's first process.
import type { Exposition, Sample } from './exposition.ts'
import { METRICS } from './metric-table.ts'

export interface ShipMetrics {
  /** Seconds since the whole log had last been shipped. */
  readonly lagSeconds: number
  readonly unshippedBytes: number
  readonly shippedBytes: number
  readonly shippedSegments: number
  readonly failures: number
}

/** @param read called once per metric and scrape; null when this process ships nothing */
export const addShipMetrics = (exposition: Exposition, read: () => ShipMetrics | null): void => {
  const sample = (of: (metrics: ShipMetrics) => number) => (): readonly Sample[] => {
    const metrics = read()
    return metrics === null ? [] : [{ labels: {}, value: of(metrics) }]
  }
  exposition.add(
    METRICS.shipLag,
    sample(({ lagSeconds }) => lagSeconds),
  )
  exposition.add(
    METRICS.shipUnshipped,
    sample(({ unshippedBytes }) => unshippedBytes),
  )
  exposition.add(
    METRICS.shipBytes,
    sample(({ shippedBytes }) => shippedBytes),
  )
  exposition.add(
    METRICS.shipSegments,
    sample(({ shippedSegments }) => shippedSegments),
  )
  exposition.add(
    METRICS.shipFailures,
    sample(({ failures }) => failures),
  )
}
