// Measures the service's throughput with each number of workers and processes. Each setting gets a new service in every
// round. Every second round reverses the order, so that a machine that becomes slower favors no setting. The bare
// server runs immediately before each setting, under the same conditions.
import { availableParallelism } from 'node:os'
import { LOAD_SHARES, loadKind } from '../capacity.ts'
import type { Chart } from '../draw/line-chart.ts'
import { writeDrawing } from '../draw/write-drawing.ts'
import { type SweepPoint, type SweepSetting, sweepName, sweepPoints, sweepSettings } from '../sweep.ts'
import type { BenchContext } from './context.ts'
import { createLoadMeasurer, type LoadTarget } from './measure-load.ts'
import { startPolicyService, targetOf } from './policy-service.ts'

/** Measures a new service with this setting: throughput in closed loop, then latency at shares of the throughput. */
export const measureSetting = async (
  context: BenchContext,
  setting: SweepSetting,
  signer: string,
  bare: Omit<LoadTarget, 'part'> | null,
): Promise<void> => {
  const { processes, workers } = setting
  const service = await startPolicyService(context.processes, {
    workers,
    environment: { COUNTERSIGN_PROCESSES: String(processes), COUNTERSIGN_SIGNER: signer },
  })
  const label = `${processes} × ${workers}`
  const shareMs = context.options.durations.openMs / 2
  const load = createLoadMeasurer(context, { ...targetOf(service, sweepName(setting)), label, shareMs })
  await load.warm()
  if (bare !== null) {
    const part = `${sweepName(setting)}.bare`
    await createLoadMeasurer(context, { ...bare, part, label: `bare server next to ${label}` }).closed()
  }
  await load.closed()
  if (!context.options.ratios) for (const share of LOAD_SHARES) await load.half(share, loadKind(share))
  await service.managed.stop()
}

/** Draws one line for each number of processes. */
export const sweepChart = (points: readonly SweepPoint[], signer: string): Chart => {
  const counts = [...new Set(points.map(({ processes }) => processes))].sort((a, b) => a - b)
  const seriesOf = (value: (point: SweepPoint) => number) =>
    counts.map((count) => ({
      name: count === 1 ? '1 process' : `${count} processes`,
      points: points
        .filter((point) => point.processes === count && !Number.isNaN(value(point)))
        .sort((a, b) => a.workers - b.workers)
        .map((point) => [point.workers, value(point)] as const),
    }))
  return {
    title: 'Attestations by workers and processes',
    subtitle: `Signing by ${signer}.`,
    xLabel: 'workers of each process',
    wholeX: true,
    panels: [
      { label: 'attestations per second, closed loop', series: seriesOf(({ throughput }) => throughput) },
      { label: 'µs of CPU per attestation', series: seriesOf(({ cpu }) => cpu) },
      { label: 'p99 in ms, closed loop', series: seriesOf(({ p99 }) => p99) },
    ],
  }
}

/** Adds measurements named `sweep.p…w….…` and draws bench-sweep.svg. */
export const measureSweep = async (context: BenchContext, signer: string): Promise<void> => {
  const { options, progress, collector } = context
  const settings = sweepSettings(availableParallelism(), options.sweep)
  const rounds = options.durations.rounds
  const bare = await context.bareServer()
  progress.section(rounds * settings.length)
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const [index, setting] of (round % 2 === 1 ? settings : settings.toReversed()).entries()) {
        progress.step(`sweep round ${round} of ${rounds}, setting ${index + 1} of ${settings.length}`)
        await measureSetting(context, setting, signer, bare)
        progress.finished()
      }
    }
  } finally {
    // An interrupted sweep is drawn too.
    const points = sweepPoints(collector.measurements())
    if (points.length > 0) writeDrawing(context, 'sweep', sweepChart(points, signer))
  }
}
