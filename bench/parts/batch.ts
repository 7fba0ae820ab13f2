// Attestations in batches of 100 and 1,000 per call. Throughput and CPU count attestations, latency counts calls.
import type { LoadReport } from '../load/plan.ts'
import type { Unit } from '../result.ts'
import type { BenchContext, BenchPart } from './context.ts'
import { findingsOf } from './measure-load.ts'
import { bodiesOf, startPolicyService, targetOf } from './policy-service.ts'

interface BatchSize {
  readonly size: number
  /** Enough to keep the workers busy, and few enough that the queue never fills. */
  readonly connections: number
  /** Time for several calls per connection on a slow machine. */
  readonly windowMinMs: number
}

const SIZES: readonly BatchSize[] = [
  { size: 100, connections: 16, windowMinMs: 0 },
  { size: 1_000, connections: 8, windowMinMs: 5_000 },
]
/** Different requests; a multiple of each size. */
const WALLETS = 16_000
const SAMPLE_EVERY = 50
const DRAIN_MS = 5_000

/** Measurements of one window, by name after `batch.<size>.`. */
export const batchNumbers = (
  report: LoadReport,
  size: number,
): readonly (readonly [string, string, Unit, number])[] => {
  const of = `${size.toLocaleString('en-US')} per call`
  const cpu =
    report.serverCpu === null
      ? []
      : [['cpu', `CPU per attestation, ${of}`, 'µs', report.serverCpu.total / (report.completed * size)] as const]
  return [
    ['throughput', `attestations, ${of}`, '/s', report.throughputPerSecond * size],
    ...cpu,
    ['p50', `p50 of a call, ${of}`, 'ms', report.latencyMs.p50],
    ['p99', `p99 of a call, ${of}`, 'ms', report.latencyMs.p99],
  ]
}

export const createBatchPart = async (context: BenchContext, signer: string): Promise<BenchPart> => {
  const { processes, progress, client, collector, options } = context
  const { durations } = options
  progress.step('service for batches starts')
  const service = await startPolicyService(processes, { environment: { COUNTERSIGN_SIGNER: signer } })
  const target = targetOf(service, 'batch')
  const run = async (
    { size, connections, windowMinMs }: BatchSize,
    warmupMs: number,
    durationMs: number,
  ): Promise<LoadReport> => {
    progress.step(`batch of ${size}`)
    const report = await client.run({
      name: `batch of ${size}`,
      url: `${service.url}/v2/attestations`,
      headers: target.headers,
      bodies: { ...bodiesOf(service, 'evm', WALLETS), batch: size },
      answers: { kind: 'attestation', attester: service.attester, sampleEvery: SAMPLE_EVERY, batch: size },
      shape: { mode: 'closed', connections },
      warmupMs,
      durationMs: Math.max(windowMinMs, durationMs),
      drainMs: DRAIN_MS,
      observePid: service.managed.pid,
    })
    for (const finding of findingsOf(report)) collector.find(finding)
    return report
  }
  const sizes = options.ratios ? SIZES.slice(0, 1) : SIZES
  return {
    name: 'batch',
    async warm() {
      for (const batch of sizes) await run(batch, 0, durations.firstWarmupMs / 2)
    },
    async round() {
      for (const batch of sizes) {
        const report = await run(batch, durations.warmupMs, durations.closedMs / 2)
        for (const [name, label, unit, value] of batchNumbers(report, batch.size)) {
          const better = unit === '/s' ? 'higher' : 'lower'
          collector.add({ label, unit, better, name: `batch.${batch.size}.${name}` }, value)
        }
      }
    },
  }
}
