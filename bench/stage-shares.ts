// Shows the distribution of the service's CPU time per attestation: the stages, measured alone, by their thread, and
// the rest of each thread's time for headers, promises, scheduling and garbage collection.
import type { Measurement } from './result.ts'

export interface StageShare {
  readonly label: string
  readonly microseconds: number
  /** Fraction of the service's CPU time per attestation. */
  readonly share: number
}

const HTTP = 'floor.echo.closed.cpu'
const MAIN_STAGES = [HTTP, 'stages.key', 'stages.decode']
const WORKER_STAGES = ['stages.policy', 'stages.statement', 'stages.sign', 'stages.record']
/** Half of this stage runs in each of the two threads. */
const POOL_STAGE = 'stages.pool'

const sum = (stages: readonly Measurement[]): number => stages.reduce((all, { median }) => all + median, 0)

/** Empty unless the service and the stages were measured. */
export const stageShares = (measurements: readonly Measurement[]): StageShare[] => {
  const find = (name: string) => measurements.find((measurement) => measurement.name === name)
  const total = find('service.closed.cpu')
  if (total === undefined || !measurements.some(({ name }) => name.startsWith('stages.'))) return []
  const main = find('service.closed.cpu_main')
  const stagesOf = (names: readonly string[]) => names.flatMap((name) => find(name) ?? [])
  const row = (label: string, microseconds: number): StageShare => ({
    label,
    microseconds,
    share: microseconds / total.median,
  })

  const mainStages = stagesOf(MAIN_STAGES)
  const poolStages = stagesOf([POOL_STAGE])
  const workerStages = stagesOf(WORKER_STAGES)
  const stages = [...mainStages, ...poolStages, ...workerStages]
  const halfPool = sum(poolStages) / 2
  const rest =
    main === undefined
      ? [row('other work', total.median - sum(stages))]
      : [
          row('other work, main thread', main.median - sum(mainStages) - halfPool),
          row('other work, workers and runtime', total.median - main.median - sum(workerStages) - halfPool),
        ]
  return [
    ...stages.map(({ name, label, median }) => row(name === HTTP ? 'HTTP: bare echo' : label, median)),
    ...rest,
    row('total per attestation', total.median),
  ]
}
