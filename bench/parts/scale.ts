// Compares the cost of an attestation in a full and in an empty deployment. Two services run side by side: one as after
// the first start; one with 10,000 policies and contracts, 100,000 keys and a deny list of a million addresses, where
// each request has another key and contract. The policies differ only in their names, as if made from one template, so
// they share compiled rules. Also measures the memory of a list of a million addresses, with one worker and with
// several. Runs after the rounds of the other parts, because filling takes longer than any of them.
import { createAddressSetBuilder } from '../../src/domain/address-set.ts'
import type { BodyPlan, LoadPlan } from '../load/plan.ts'
import type { Unit } from '../result.ts'
import { addPolicy, CHAIN, type FillPlan, fillDenyList, fillOrganizations } from '../scale/fill.ts'
import { type RunningService, residentMegabytes, startService, waitForList } from '../scale/running-service.ts'
import type { BenchContext } from './context.ts'
import { findingsOf } from './measure-load.ts'

/** 10,000 policies and 100,000 keys. */
export const FULL: FillPlan = { organizations: 100, policiesEach: 100, keysEach: 1_000 }
const ENTRIES = 1_000_000
/** Different requests, each with another key and contract. */
const REQUESTS = 10_000
const WORKERS_MANY = 4
/** Time to collect garbage after starting or loading. */
const SETTLE_MS = 3_000
/**
 * Requests choose policies at random, and each policy is compiled at its first use. With fewer warm-up requests, some
 * would be unused.
 */
const WARM_TIMES = 12
const WARM_LIMIT_MS = 90_000

type Add = (name: string, label: string, unit: Unit, value: number) => void

const setMegabytes = (width: 20 | 32): number => {
  const builder = width === 20 ? createAddressSetBuilder(ENTRIES, 0) : createAddressSetBuilder(0, ENTRIES)
  const key = new Uint8Array(width)
  for (let index = 0; index < ENTRIES; index++) {
    new DataView(key.buffer).setUint32(0, index * 4_294)
    builder.append(width, key)
  }
  return builder.finish().byteLength / 1_000_000
}

/** Returns the megabytes that a list of a million addresses adds to a service's memory. */
const measureMemory = async ({ processes }: BenchContext, workers: number): Promise<number> => {
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

const planOf = (
  { options }: BenchContext,
  service: RunningService,
  name: string,
  bodies: BodyPlan,
  durationMs: number,
): LoadPlan => ({
  name: `scale ${name}`,
  url: `${service.url}/v2/attestation`,
  headers: { 'x-api-key': service.key },
  bodies,
  answers: { kind: 'attestation', attester: service.attester, sampleEvery: 5_000 },
  shape: { mode: 'closed', connections: options.connections },
  warmupMs: 300,
  durationMs,
  drainMs: 2_000,
  observePid: service.managed.pid,
})

/** Returns the service's CPU time per attestation in microseconds. */
const measureCpu = async ({ client, collector }: BenchContext, plan: LoadPlan): Promise<number> => {
  const report = await client.run(plan)
  for (const finding of findingsOf(report)) collector.find(finding)
  if (report.serverCpu === null) throw new Error("the service's CPU time can't be read here")
  return report.serverCpu.total / report.completed
}

/** Puts load on the service until every request has been answered several times. */
const warm = async ({ client, progress, collector }: BenchContext, plan: LoadPlan): Promise<void> => {
  const all = WARM_TIMES * REQUESTS
  const giveUpMs = performance.now() + WARM_LIMIT_MS
  for (let completed = 0; completed < all; ) {
    progress.step(
      `${plan.name} warm-up, ${completed.toLocaleString('en-US')} of ${all.toLocaleString('en-US')} requests`,
    )
    if (performance.now() > giveUpMs) {
      collector.find(`${plan.name}: the warm-up sent ${completed} of ${all} requests within ${WARM_LIMIT_MS / 1_000} s`)
      return
    }
    completed += (await client.run(plan)).completed
  }
}

interface Compared {
  readonly service: RunningService
  readonly bodies: BodyPlan
}

const fillBoth = async ({ processes, progress }: BenchContext): Promise<{ empty: Compared; full: Compared }> => {
  const empty = await startService(processes, 'auto')
  const full = await startService(processes, 'auto')
  progress.step('scale policies and keys are saved')
  const contract = await addPolicy(empty)
  const { contracts, keys } = await fillOrganizations(full, FULL)
  progress.step(`scale ${ENTRIES} addresses are listed`)
  await fillDenyList(full, ENTRIES)
  await waitForList(full, ENTRIES)
  const common = { seed: 'scale', wallets: REQUESTS, chain: CHAIN }
  return {
    empty: { service: empty, bodies: { ...common, target: { to: contract } } },
    full: { service: full, bodies: { ...common, target: { contracts }, keys } },
  }
}

const compareCpu = async (context: BenchContext, add: Add): Promise<void> => {
  const { durations } = context.options
  const { empty, full } = await fillBoth(context)
  const plan = ({ service, bodies }: Compared, name: string, durationMs: number): LoadPlan =>
    planOf(context, service, name, bodies, durationMs)
  await warm(context, plan(empty, 'empty', durations.firstWarmupMs))
  await warm(context, plan(full, 'full', durations.firstWarmupMs))
  add('empty.resident', 'memory of the empty service', 'MB', residentMegabytes(empty.service))
  add('full.resident', 'memory of the full service', 'MB', residentMegabytes(full.service))
  context.progress.section(durations.rounds)
  for (let round = 1; round <= durations.rounds; round++) {
    context.progress.step(`scale round ${round} of ${durations.rounds}`)
    const emptyCpu = await measureCpu(context, plan(empty, 'empty', durations.closedMs))
    const fullCpu = await measureCpu(context, plan(full, 'full', durations.closedMs))
    add('empty.cpu', 'CPU per attestation, empty', 'µs', emptyCpu)
    add('full.cpu', 'CPU per attestation, full', 'µs', fullCpu)
    add('cpu_growth', 'growth of CPU per attestation', '%', (fullCpu / emptyCpu - 1) * 100)
    context.progress.finished()
  }
  await Promise.all([empty.service.managed.stop(), full.service.managed.stop()])
}

/** Measures the memory of a list of a million addresses, with one worker and with several. */
const measureMemoryOfLists = async (context: BenchContext, add: Add): Promise<void> => {
  const { progress } = context
  add('list.evm_size', 'a million EVM addresses in shared memory', 'MB', setMegabytes(20))
  add('list.solana_size', 'a million Solana addresses in shared memory', 'MB', setMegabytes(32))
  progress.step('scale memory with one worker')
  add('list.memory_1', 'memory of a list of a million, 1 worker', 'MB', await measureMemory(context, 1))
  progress.step(`scale memory with ${WORKERS_MANY} workers`)
  const many = await measureMemory(context, WORKERS_MANY)
  add('list.memory_many', `memory of a list of a million, ${WORKERS_MANY} workers`, 'MB', many)
}

/** Adds measurements named `scale.…`. @throws Error if a service can't be started, filled or reached */
export const measureScale = async (context: BenchContext): Promise<void> => {
  const { collector } = context
  const add: Add = (name, label, unit, value) =>
    collector.add({ label, unit, name: `scale.${name}`, better: 'lower' }, value)
  if (!context.options.ratios) await measureMemoryOfLists(context, add)
  await compareCpu(context, add)
}
