// Does a full deployment cost more per attestation than an empty one? Two services side by side: one as the first start
// makes it, one with 10,000 policies and contracts, 100,000 keys and a deny list of a million addresses, each request
// with another key for another contract. And what does the list take in memory, with one worker and with several?
//   bun bench/scale.ts [--quick]
import { createAddressSetBuilder } from '../src/domain/address-set.ts'
import { type LoadClient, startLoadClient } from './load/load-client.ts'
import type { BodyPlan, LoadPlan } from './load/plan.ts'
import { readCommit, readMachine } from './machine.ts'
import { createProcesses, type Processes, stopOnSignals } from './processes.ts'
import { addKeys, addPolicies, CHAIN, fillDenyList } from './scale/fill.ts'
import { type RunningService, residentMegabytes, startService, waitForList } from './scale/running-service.ts'
import { median } from './stages/harness.ts'

const POLICIES = 10_000
const KEYS = 100_000
const ENTRIES = 1_000_000
/** Different requests, each with another key and contract. */
const REQUESTS = 10_000
const CONNECTIONS = 64
const WORKERS_MANY = 4
/** For garbage of the start, or of loading, to go. */
const SETTLE_MS = 3_000

const quick = process.argv.includes('--quick')
const ROUNDS = quick ? 3 : 7
const WARM_MS = 5_000
const WARM_TIMES = quick ? 3 : 6
const ROUND_MS = quick ? 2_000 : 4_000

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** What a list of a million adds to a service's memory, megabytes. */
const measureMemory = async (processes: Processes, workers: number): Promise<number> => {
  const service = await startService(processes, workers)
  await Bun.sleep(SETTLE_MS)
  const before = residentMegabytes(service)
  await fillDenyList(service, ENTRIES)
  await waitForList(service, ENTRIES)
  await Bun.sleep(SETTLE_MS)
  const added = residentMegabytes(service) - before
  await service.managed.stop()
  return added
}

const setMegabytes = (width: 20 | 32): number => {
  const builder = width === 20 ? createAddressSetBuilder(ENTRIES, 0) : createAddressSetBuilder(0, ENTRIES)
  const key = new Uint8Array(width)
  for (let index = 0; index < ENTRIES; index++) {
    new DataView(key.buffer).setUint32(0, index * 4_294)
    builder.append(width, key)
  }
  return builder.finish().byteLength / 1_000_000
}

const planOf = (service: RunningService, bodies: BodyPlan, durationMs: number): LoadPlan => ({
  name: 'scale',
  url: `${service.url}/v2/attestation`,
  headers: { 'x-api-key': service.key },
  bodies,
  answers: { kind: 'attestation', attester: service.attester, sampleEvery: 5_000 },
  shape: { mode: 'closed', connections: CONNECTIONS },
  warmupMs: 300,
  durationMs,
  drainMs: 2_000,
  observePid: service.managed.pid,
})

const measureCpu = async (client: LoadClient, plan: LoadPlan): Promise<number> => {
  const report = await client.run(plan)
  if (report.answers.problems.length > 0) throw new Error(report.answers.problems.join('; '))
  const unexpected = Object.keys(report.statuses).filter((status) => status !== '200')
  if (unexpected.length > 0) throw new Error(`answers with status ${unexpected.join(', ')}`)
  if (report.serverCpu === null) throw new Error("the service's CPU time can't be read here")
  return report.serverCpu.total / report.completed
}

/** Until every request has been answered a few times: each policy is read and compiled when it is first asked for. */
const warm = async (client: LoadClient, plan: LoadPlan): Promise<void> => {
  for (let completed = 0; completed < WARM_TIMES * REQUESTS; ) completed += (await client.run(plan)).completed
}

const compareCpu = async (processes: Processes, client: LoadClient): Promise<{ empty: number[]; full: number[] }> => {
  const empty = await startService(processes, 'auto')
  const full = await startService(processes, 'auto')
  say('filling: policies')
  const [contract] = await addPolicies(empty, 1)
  const contracts = await addPolicies(full, POLICIES)
  say('filling: keys')
  const keys = await addKeys(full, KEYS)
  say('filling: a list')
  await fillDenyList(full, ENTRIES)
  await waitForList(full, ENTRIES)
  const common = { seed: 'scale', wallets: REQUESTS, chain: CHAIN }
  const emptyBodies: BodyPlan = { ...common, target: { to: contract ?? '' } }
  const fullBodies: BodyPlan = { ...common, target: { contracts }, keys: keys.slice(0, REQUESTS) }
  say('warming up')
  await warm(client, planOf(empty, emptyBodies, WARM_MS))
  await warm(client, planOf(full, fullBodies, WARM_MS))
  say(`resident: ${residentMegabytes(empty).toFixed(0)} MB empty, ${residentMegabytes(full).toFixed(0)} MB full`)
  const results = { empty: [] as number[], full: [] as number[] }
  for (let round = 1; round <= ROUNDS; round++) {
    say(`round ${round} of ${ROUNDS}`)
    results.empty.push(await measureCpu(client, planOf(empty, emptyBodies, ROUND_MS)))
    results.full.push(await measureCpu(client, planOf(full, fullBodies, ROUND_MS)))
  }
  await Promise.all([empty.managed.stop(), full.managed.stop()])
  return results
}

const main = async (): Promise<void> => {
  const processes = createProcesses()
  stopOnSignals(processes)
  try {
    const { cpu, cores, loadAverage } = readMachine()
    const commit = readCommit()
    say('memory: one worker')
    const one = await measureMemory(processes, 1)
    say(`memory: ${WORKERS_MANY} workers`)
    const many = await measureMemory(processes, WORKERS_MANY)
    const { empty, full } = await compareCpu(processes, await startLoadClient(processes))
    const ratios = full.map((value, index) => value / (empty[index] ?? Number.NaN))
    const lines = [
      `${cpu}, ${cores} cores, load ${loadAverage}; Bun ${Bun.version}; ${commit?.id ?? 'no commit'}${commit?.modified ? ', modified' : ''}`,
      `a list of a million in shared memory: ${setMegabytes(20).toFixed(1)} MB EVM, ${setMegabytes(32).toFixed(1)} MB Solana`,
      `what it adds to the process: ${one.toFixed(0)} MB with 1 worker, ${many.toFixed(0)} MB with ${WORKERS_MANY} (goal: 40 MB)`,
      `CPU per attestation: ${median(empty).toFixed(1)} µs empty, ${median(full).toFixed(1)} µs full`,
      `ratio: ${median(ratios).toFixed(3)} (goal: at most 1.10); rounds ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}`,
    ]
    console.log(lines.join('\n'))
  } finally {
    await processes.stopAll()
  }
}

await main()
process.exit(0)
