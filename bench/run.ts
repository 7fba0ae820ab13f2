// The benchmark: measures the service, the floor and peers on one machine in one run, interleaved, over loopback; or
// only a running deployment. `bun run bench --help` lists the options.

import { chooseSecp256k1Backend, SECP256K1_BACKEND_NAMES } from '../src/signing/secp256k1-backends.ts'
import { addDerived, judgeGoals } from './goals.ts'
import { startLoadClient } from './load/load-client.ts'
import { readCommit, readMachine, readRuntime } from './machine.ts'
import { type BenchOptions, OptionInvalidError, type Part, parseOptions } from './options.ts'
import { createAttempt } from './parts/attempt.ts'
import { createBarePart, startBareServer } from './parts/bare.ts'
import { createBatchPart } from './parts/batch.ts'
import type { BenchContext, BenchPart } from './parts/context.ts'
import { createDeploymentPart } from './parts/deployment.ts'
import { createFloorPart } from './parts/floor.ts'
import { measureIdentity } from './parts/identity.ts'
import { createKeyedPart } from './parts/keyed.ts'
import { measureOverload } from './parts/overload.ts'
import { measurePeers } from './parts/peers.ts'
import { measureScale } from './parts/scale.ts'
import { createServicePart } from './parts/service.ts'
import { measureSoak } from './parts/soak.ts'
import { createSolanaPart } from './parts/solana.ts'
import { measureStages } from './parts/stages.ts'
import { measureSweep } from './parts/sweep.ts'
import { createProcesses, type Processes, type SignalWatch, stopOnSignals } from './processes.ts'
import { createProgress } from './progress.ts'
import { formatRatios, formatResult } from './report.ts'
import { type BenchResult, createCollector, RESULT_SCHEMA } from './result.ts'
import { watchStolenTime } from './stolen-time.ts'
import { USAGE } from './usage.ts'

const PART_MAKERS = {
  floor: createFloorPart,
  bare: createBarePart,
  service: createServicePart,
  keyed: createKeyedPart,
  batch: createBatchPart,
  solana: createSolanaPart,
} as const

/** Parts with their own rounds, which run after the other parts. */
const AFTER_ROUNDS: readonly {
  readonly part: Part
  readonly measure: (context: BenchContext, signer: string) => Promise<void>
}[] = [
  { part: 'stages', measure: measureStages },
  { part: 'identity', measure: measureIdentity },
  { part: 'peers', measure: measurePeers },
  { part: 'scale', measure: measureScale },
  { part: 'sweep', measure: measureSweep },
  { part: 'overload', measure: measureOverload },
  { part: 'soak', measure: measureSoak },
]

/** Maximum percentage of CPU time that other machines of the host may use without distorting the numbers. */
const STOLEN_MAX = 10

/** Finds the signing backend in the same way as the service. @throws OptionInvalidError */
const resolveSigner = (name: string): string => {
  const known = (['auto', ...SECP256K1_BACKEND_NAMES] as const).find((candidate) => candidate === name)
  if (known === undefined) throw new OptionInvalidError(`--signer: no backend is named ${name}`)
  return chooseSecp256k1Backend(known).backend.name
}

const makeParts = async (context: BenchContext, signer: string): Promise<BenchPart[]> => {
  const { options } = context
  if (options.deployment !== null) return [await createDeploymentPart(context, options.deployment)]
  const parts: BenchPart[] = []
  for (const [name, make] of Object.entries(PART_MAKERS)) {
    if (!options.parts.some((part) => part === name)) continue
    const part = await make(context, signer)
    if (part !== null) parts.push(part)
  }
  return parts
}

const measure = async (context: BenchContext, signer: string, signals: SignalWatch): Promise<void> => {
  const { options, progress, collector } = context
  const { rounds } = options.durations
  const parts = new Set(await makeParts(context, signer))
  const attempt = createAttempt(collector, signals)
  for (const part of parts) if (!(await attempt(part.name, part.warm))) parts.delete(part)
  progress.section(rounds * parts.size)
  for (let round = 1; round <= rounds && parts.size > 0; round++) {
    progress.step(`round ${round} of ${rounds}`)
    for (const part of parts) {
      if (!(await attempt(part.name, part.round))) parts.delete(part)
      progress.finished()
    }
  }
  for (const { part, measure: measurePart } of options.deployment === null ? AFTER_ROUNDS : []) {
    if (options.parts.includes(part)) await attempt(part, () => measurePart(context, signer))
  }
}

const run = async (options: BenchOptions, processes: Processes, signals: SignalWatch): Promise<BenchResult> => {
  const machine = readMachine()
  const startedAt = new Date().toISOString()
  // Read the commit before the bench writes drawings into the checkout.
  const commit = readCommit()
  const signer = resolveSigner(options.signer)
  const collector = createCollector()
  const progress = createProgress()
  const stolenTime = watchStolenTime()
  const { count, commands } = options.generators
  let bareServer: ReturnType<typeof startBareServer> | null = null
  const context: BenchContext = {
    options,
    processes,
    collector,
    progress,
    client: await startLoadClient(processes, count, commands),
    bareServer: () => (bareServer ??= startBareServer({ processes, progress })),
  }
  try {
    await measure(context, signer, signals)
  } catch (cause) {
    // After a signal, errors come from stopping the processes.
    if (signals.exitCode() === null) throw cause
    collector.find('the run was interrupted: its numbers come from fewer rounds, or are missing')
  }
  progress.end()
  const stolen = stolenTime.since() ?? 0
  if (stolen > STOLEN_MAX) {
    collector.find(`the host gave ${stolen.toFixed(0)}% of the processors' time to others during the run`)
  }
  addDerived(collector)
  return {
    schema: RESULT_SCHEMA,
    startedAt,
    machine,
    runtime: readRuntime(),
    commit,
    settings: {
      parts: options.deployment === null ? options.parts : ['deployment'],
      quick: options.quick,
      ...options.durations,
      connections: options.connections,
      ratePerSecond: options.ratePerSecond,
      signer,
      generators: count + commands.length,
      ...(signals.exitCode() === null ? {} : { interrupted: true }),
      ...(options.parts.includes('soak') ? { minutes: options.minutes } : {}),
      url: options.deployment?.url ?? null,
    },
    measurements: collector.measurements(),
    goals: judgeGoals(collector, options.ratePerSecond),
    findings: collector.findings(),
  }
}

const main = async (): Promise<number> => {
  const processes = createProcesses()
  const signals = stopOnSignals(processes)
  try {
    const options = parseOptions(process.argv.slice(2))
    if (options === null) {
      console.log(USAGE)
      return 0
    }
    const result = await run(options, processes, signals)
    const format = options.ratios ? formatRatios : formatResult
    console.log(options.json ? JSON.stringify(result, null, 1) : format(result))
    // Fails on findings, which make the numbers doubtful, but not on missed goals.
    return signals.exitCode() ?? (result.findings.length === 0 ? 0 : 1)
  } catch (cause) {
    const interrupted = signals.exitCode()
    if (interrupted !== null) return interrupted
    console.error(`bench: ${cause instanceof Error ? cause.message : String(cause)}`)
    return cause instanceof OptionInvalidError ? 2 : 1
  } finally {
    await processes.stopAll()
  }
}

process.exit(await main())
