// Starts the load generators, divides each plan among them and merges their reports.
import { startOrderProcess } from '../order-process.ts'
import type { Processes } from '../processes.ts'
import { mergeReports } from './merge-reports.ts'
import type { GeneratorReply, GeneratorRequest, LoadPlan, LoadReport } from './plan.ts'

export interface LoadClient {
  /** One run at a time. @throws Error with the generator's reason if the run fails */
  run(plan: LoadPlan): Promise<LoadReport>
}

/** Command line of a generator on this machine. */
const LOCAL: readonly string[] = [process.execPath, new URL('./generator.ts', import.meta.url).pathname]

/** Divides a whole number into parts that differ by at most one. */
const divide = (total: number, parts: number): number[] =>
  Array.from({ length: parts }, (_, part) => Math.floor((total + part) / parts))

/**
 * One plan per generator, with its share of the connections and of the rate, and with other requests.
 * @throws RangeError if there are more generators than connections
 */
export const dividePlan = (plan: LoadPlan, generators: number): LoadPlan[] => {
  const { shape } = plan
  if (generators === 1) return [plan]
  if (shape.connections < generators)
    throw new RangeError(`${shape.connections} connections for ${generators} generators`)
  return divide(shape.connections, generators).map((connections, index) => ({
    ...plan,
    shape: {
      ...shape,
      connections,
      ...(shape.mode === 'open'
        ? { ratePerSecond: shape.ratePerSecond / generators, queueLimit: Math.ceil(shape.queueLimit / generators) }
        : {}),
    },
    bodies: { ...plan.bodies, seed: `${plan.bodies.seed} ${index}` },
    observePid: index === 0 ? plan.observePid : null,
  }))
}

/**
 * @param count number of generators on this machine
 * @param commands further generators, each a shell command that starts `bench/load/generator.ts`, for example over SSH
 */
export const startLoadClient = async (
  processes: Processes,
  count = 1,
  commands: readonly string[] = [],
): Promise<LoadClient> => {
  const commandLines = [...Array.from({ length: count }, () => LOCAL), ...commands.map((text) => ['sh', '-c', text])]
  const generators = await Promise.all(
    commandLines.map((command) =>
      startOrderProcess<GeneratorRequest, GeneratorReply>(processes, {
        name: 'load generator',
        command,
        channel: 'stdio',
      }),
    ),
  )
  return {
    async run(plan) {
      const plans = dividePlan(plan, generators.length)
      const replies = await Promise.all(generators.map((ask, index) => ask({ type: 'run', plan: plans[index]! })))
      return mergeReports(
        plan,
        replies.map((reply) => {
          if (reply.type !== 'report') throw new Error('the load generator restarted')
          return reply.report
        }),
      )
    },
  }
}
