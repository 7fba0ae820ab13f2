// Runs stage files in a separate process, so that the compiled code and garbage of stages do not affect each other:
//   bun bench/stages/runner.ts floor policy
// Prints a table; if the bench started it, sends the measurements over IPC.
import { join } from 'node:path'
import { answerHelp } from '../../test/support/head-help.ts'
import { type HarnessOptions, measureStage, type StageBenchmark, type StageMeasurement } from './harness.ts'

answerHelp(import.meta)

/** Overridden by the bench with BENCH_STAGE_OPTIONS, as JSON. */
const BY_HAND: HarnessOptions = { warmupMs: 500, rounds: 7, roundMs: 150 }

const options: HarnessOptions = { ...BY_HAND, ...JSON.parse(process.env['BENCH_STAGE_OPTIONS'] ?? '{}') }
const measurements: StageMeasurement[] = []
for (const file of process.argv.slice(2)) {
  const path = join(import.meta.dir, `${file}.bench.ts`)
  const { stages } = (await import(path)) as { readonly stages: readonly StageBenchmark[] }
  for (const stage of stages) {
    const measurement = await measureStage(stage, options)
    if (measurement !== null) measurements.push(measurement)
  }
}

if (process.send) {
  process.send(measurements)
} else {
  for (const { name, description, median, minimum } of measurements) {
    console.log(
      `${name.padEnd(24)} ${median.toFixed(2).padStart(8)} µs  best ${minimum.toFixed(2).padStart(8)}  ${description}`,
    )
  }
}
process.exit(0)
