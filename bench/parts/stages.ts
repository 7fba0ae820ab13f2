// Runs each stage file in a separate process and adds its measurements.
import { join } from 'node:path'
import type { HarnessOptions, StageMeasurement } from '../stages/harness.ts'
import type { BenchContext } from './context.ts'

/** In the order of a request; the files are bench/stages/<name>.bench.ts. */
export const STAGE_FILES = ['request', 'pool', 'policy', 'lists', 'statement', 'record'] as const

/** @throws Error with the end of the process's output if it fails */
export const runStageFile = (
  { processes, options }: BenchContext,
  file: string,
  rounds: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly StageMeasurement[]> =>
  new Promise((resolve, reject) => {
    const harness: HarnessOptions = {
      warmupMs: options.durations.stageWarmupMs,
      rounds,
      roundMs: options.durations.stageRoundMs,
    }
    let measurements: readonly StageMeasurement[] | null = null
    const managed = processes.start({
      name: `stage ${file}`,
      command: [process.execPath, join(import.meta.dir, '..', 'stages', 'runner.ts'), file],
      environment: {
        ...environment,
        BENCH_STAGE_OPTIONS: JSON.stringify(harness),
        // A stopped stage can't delete its files, but they are deleted with this folder.
        TMPDIR: processes.temporaryFolder(),
      },
      onMessage: (message) => {
        measurements = message as readonly StageMeasurement[]
      },
      onExit: () => {
        if (measurements !== null) return resolve(measurements)
        managed.output().then(
          (output) => reject(new Error(`stage ${file} failed: ${output}`)),
          () => reject(new Error(`stage ${file} failed`)),
        )
      },
    })
  })

/** Runs every stage once, because each takes several rounds of its own. */
export const measureStages = async (context: BenchContext, signer: string): Promise<void> => {
  context.progress.section(STAGE_FILES.length)
  for (const file of STAGE_FILES) {
    context.progress.step(`stage ${file}`)
    for (const { name, description, rounds } of await runStageFile(context, file, context.options.durations.rounds)) {
      for (const value of rounds) {
        context.collector.add({ name: `stages.${name}`, label: description, unit: 'µs', better: 'lower' }, value)
      }
    }
    context.progress.finished()
  }
  // The floor measures the signature itself, round by round.
  for (const value of context.collector.rounds(`floor.sign.${signer}`)) {
    context.collector.add({ name: 'stages.sign', label: `signing: ${signer}`, unit: 'µs', better: 'lower' }, value)
  }
}
