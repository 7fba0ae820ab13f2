/// <reference path="./prom-registry.d.ts" />
// Passes the service's counters to prom-client at each scrape. Counting is therefore a plain addition; prom-client's
// counters hash their labels.
import type { Metric } from 'prom-client'
import Registry from 'prom-client/lib/registry.js'
import type { HistogramSnapshot } from '../lib/histogram.ts'
import type { MetricDefinition } from './metric-table.ts'

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** Series of a histogram, with its suffix. */
  readonly metricName?: string
}

const seconds = (milliseconds: number): number => milliseconds / 1000

/** Cumulative buckets, sum and count in seconds. */
export const histogramSamples = (
  name: string,
  labels: Readonly<Record<string, string>>,
  { boundsMs, counts, count, sumMs }: HistogramSnapshot,
): readonly Sample[] => {
  const samples: Sample[] = []
  let cumulative = 0
  for (let bucket = 0; bucket < boundsMs.length; bucket++) {
    cumulative += counts[bucket] ?? 0
    const le = String(seconds(boundsMs[bucket] ?? 0))
    samples.push({ labels: { ...labels, le }, value: cumulative, metricName: `${name}_bucket` })
  }
  samples.push({ labels: { ...labels, le: '+Inf' }, value: count, metricName: `${name}_bucket` })
  samples.push({ labels, value: seconds(sumMs), metricName: `${name}_sum` })
  samples.push({ labels, value: count, metricName: `${name}_count` })
  return samples
}

export interface Exposition {
  readonly contentType: string
  /** A metric without samples still has its HELP and TYPE lines. @param collect called at each scrape */
  add(definition: MetricDefinition, collect: () => readonly Sample[]): void
  text(): Promise<string>
}

export const createExposition = (): Exposition => {
  const registry = new Registry()
  return {
    contentType: registry.contentType,
    add: ({ name, help, type }, collect) => {
      // The registry uses only `name` and `get` (prom-client 15.1, lib/registry.js).
      const metric = { name, get: async () => ({ name, help, type, aggregator: 'sum', values: collect() }) }
      registry.registerMetric(metric as unknown as Metric)
    },
    text: () => registry.metrics(),
  }
}
