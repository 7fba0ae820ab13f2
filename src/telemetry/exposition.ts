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
  readonly metricName?: string
}

const seconds = (milliseconds: number): number => milliseconds / 1000

/** Returns the cumulative buckets, sum and count in seconds. */
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

export const createExposition = () => {
  const registry = new Registry()
  return {
    contentType: registry.contentType,
    /** `collect` is called at each scrape. A metric without samples still appears with its HELP and TYPE lines. */
    add: ({ name, help, type }: MetricDefinition, collect: () => readonly Sample[]) => {
      // The registry uses only `name` and, at the scrape, `get` (prom-client 15.1, lib/registry.js).
      const metric = { name, get: async () => ({ name, help, type, aggregator: 'sum', values: collect() }) }
      registry.registerMetric(metric as unknown as Metric)
    },
    text: (): Promise<string> => registry.metrics(),
  }
}

export type Exposition = ReturnType<typeof createExposition>
