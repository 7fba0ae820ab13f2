// Measures overload: the share answered in time at 1, 2 and 10 times capacity, the time of refusals, and whether a
// flood of one organization slows another. One worker signs with @noble, the smallest possible capacity, so that a
// generator on the same machine can approach ten times that. The actual rate is reported too.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LoadClient, startLoadClient } from '../load/load-client.ts'
import type { LoadReport, LoadShape } from '../load/plan.ts'
import type { Unit } from '../result.ts'
import { type RunningService, withStore } from '../scale/running-service.ts'
import type { BenchContext } from './context.ts'
import { type LoadTarget, loadPlan } from './measure-load.ts'
import { ENDPOINT, startPolicyService, targetOf } from './policy-service.ts'
import { type RefusalBuckets, readRefusals, servedWithinMs } from './served-refusals.ts'

const MULTIPLES = [1, 2, 10] as const
const FLOOD = 2
const NEIGHBOR_SHARE = 0.1
/** Half of the time within which an answer counts as prompt, so that accepted requests are answered promptly. */
const DEADLINE_MS = 500
const NEIGHBOR_CONNECTIONS = 64
const CONNECTIONS_MAX = 10_000
/** The flood starts this long before the neighbor is measured, and ends after it. */
const FLOOD_LEAD_MS = 1_500
const NEIGHBOR_CONTRACT = `0xc0de${'1'.padStart(36, '0')}`
const POLICY = readFileSync(join(import.meta.dir, '..', 'policies', 'six-rules.yaml'), 'utf8')

type Add = (name: string, label: string, unit: Unit, value: number) => void

/** Enough connections for the requests in the service's queue and in transit. */
const connectionsFor = (capacity: number): number =>
  Math.min(CONNECTIONS_MAX, 500 + Math.ceil(((capacity * DEADLINE_MS) / 1_000) * 1.5))

/** Outcomes of an open loop's requests, as percentages of the sent requests. */
export const overloadNumbers = ({
  statuses,
  failures,
  throughputPerSecond,
  windowMs,
  refusalLatencyMs,
}: LoadReport) => {
  const answered = Object.values(statuses).reduce((sum, count) => sum + count, 0)
  const { 'not-sent': _notSent, ...lost } = failures
  const unanswered = Object.values(lost).reduce((sum, count) => sum + count, 0)
  const sent = answered + unanswered
  return {
    sentPerSecond: (sent * 1_000) / windowMs,
    goodputPerSecond: throughputPerSecond,
    refusedPercent: sent === 0 ? 0 : ((statuses['503'] ?? 0) / sent) * 100,
    /** Accepted, but answered with 408. */
    latePercent: sent === 0 ? 0 : ((statuses['408'] ?? 0) / sent) * 100,
    refusals: statuses['503'] ?? 0,
    refusalMs: refusalLatencyMs,
    /** Neither answered with 200, nor refused, nor late. */
    strange: Object.entries({ ...statuses, ...lost }).filter(([name]) => !['200', '503', '408'].includes(name)),
  }
}

const noteStrange = ({ collector }: BenchContext, report: LoadReport): void => {
  for (const [name, count] of overloadNumbers(report).strange) collector.find(`${report.name}: ${count} of ${name}`)
  for (const problem of report.answers.problems) collector.find(`${report.name}: ${problem}`)
}

const scrapeRefusals = async ({ url }: LoadTarget): Promise<RefusalBuckets> =>
  readRefusals(await (await fetch(new URL('/metrics', url))).text(), ENDPOINT)

interface Multiple {
  readonly multiple: number
  /** Answers per second at full load, measured immediately before. */
  readonly peak: number
  readonly peakAfter: () => Promise<number>
  readonly add: Add
}

/**
 * Compares with the mean of the peaks before and after, because on a shared machine a single peak may be wrong by half.
 * @returns the later peak
 */
const measureMultiple = async (
  context: BenchContext,
  target: LoadTarget,
  { multiple, peak, peakAfter, add }: Multiple,
): Promise<number> => {
  const { client, options, progress } = context
  const { warmupMs, openMs } = options.durations
  progress.step(`overload at ${multiple} times capacity`)
  const shape: LoadShape = {
    mode: 'open',
    connections: connectionsFor(peak),
    ratePerSecond: Math.round(peak * multiple),
    queueLimit: 0,
  }
  const before = await scrapeRefusals(target)
  const report = await client.run(loadPlan(target, `overload ×${multiple}`, shape, warmupMs + DEADLINE_MS, openMs))
  const servedMs = servedWithinMs(before, await scrapeRefusals(target), 0.99)
  const after = await peakAfter()
  noteStrange(context, report)
  const numbers = overloadNumbers(report)
  const at = `at ${multiple}× capacity`
  add(`x${multiple}.sent`, `sent ${at}`, '/s', numbers.sentPerSecond)
  add(`x${multiple}.goodput`, `answered within a second ${at}`, '/s', numbers.goodputPerSecond)
  add(`x${multiple}.goodput_share`, `answered / peak ${at}`, '%', (numbers.goodputPerSecond * 200) / (peak + after))
  add(`x${multiple}.refused`, `refused with 503 ${at}`, '%', numbers.refusedPercent)
  add(`x${multiple}.late`, `late (408) ${at}`, '%', numbers.latePercent)
  if (numbers.refusals > 0) {
    add(`x${multiple}.refusal_p50`, `p50 of a refusal ${at}`, 'ms', numbers.refusalMs.p50)
    add(`x${multiple}.refusal_p99`, `p99 of a refusal ${at}`, 'ms', numbers.refusalMs.p99)
    if (servedMs !== null && Number.isFinite(servedMs)) {
      add(`x${multiple}.refusal_served_p99`, `p99 of a refusal inside the service ${at}, at most`, 'ms', servedMs)
    }
  }
  add(`x${multiple}.p99`, `p99 of 200 responses ${at}`, 'ms', report.latencyMs.p99)
  if (report.generatorDelayMs !== null) {
    add(`x${multiple}.generator_p99`, `generator lateness ${at}, p99`, 'ms', report.generatorDelayMs.p99)
  }
  return after
}

/** A second organization with its own policy, contract and key. */
const addNeighbor = (service: RunningService): Promise<LoadTarget> =>
  withStore(service, async (store) => {
    const key = await store.transaction(async (tables) => {
      const { id: organizationId } = await tables.organizations.create({ slug: 'neighbour', name: 'Neighbor' })
      const policy = await tables.policies.create({ organizationId, name: 'Six rules' })
      const draft = { organizationId, policyId: policy.id, source: POLICY, quorum: 1 }
      const revision = await tables.policies.saveRevision(draft)
      if (revision === null) throw new Error('the policy is gone')
      await tables.policies.activateRevision(organizationId, policy.id, revision.id)
      const project = await tables.projects.create({ organizationId, name: 'Neighbor', policyId: policy.id })
      const place = { chainName: 'sepolia', address: NEIGHBOR_CONTRACT }
      await tables.bindings.create({ organizationId, projectId: project.id, ...place })
      const settings = { kind: 'attestation', environment: 'live', name: '', expiresAtSeconds: null } as const
      return (await tables.apiKeys.issue({ organizationId, rateLimit: null, ...settings })).text
    })
    const target = targetOf(service, 'overload')
    return {
      ...target,
      headers: { 'x-api-key': key },
      bodies: { ...target.bodies, target: { to: NEIGHBOR_CONTRACT } },
    }
  })

interface Neighbors {
  readonly flooding: LoadTarget
  readonly neighbor: LoadTarget
  /** Generator for the neighbor, because the other generator produces the flood. */
  readonly client: LoadClient
}

const measureNeighbor = async (
  context: BenchContext,
  { flooding, neighbor, client }: Neighbors,
  { peak, add }: { readonly peak: number; readonly add: Add },
): Promise<void> => {
  const { options, progress, collector } = context
  const { openMs } = options.durations
  const ratePerSecond = Math.max(1, Math.round(peak * NEIGHBOR_SHARE))
  const ask = async (name: string): Promise<LoadReport> => {
    const shape: LoadShape = { mode: 'open', connections: NEIGHBOR_CONNECTIONS, ratePerSecond, queueLimit: 100_000 }
    const report = await client.run(loadPlan(neighbor, name, shape, FLOOD_LEAD_MS, openMs))
    noteStrange(context, report)
    const { refusedPercent, latePercent } = overloadNumbers(report)
    if (refusedPercent + latePercent > 0) {
      collector.find(`${name}: ${(refusedPercent + latePercent).toFixed(2)}% of its requests were refused or late`)
    }
    return report
  }
  progress.step('overload: the neighbor alone')
  const alone = await ask('the neighbor alone')
  progress.step('overload: the neighbor during a flood')
  const shape: LoadShape = {
    mode: 'open',
    connections: connectionsFor(peak),
    ratePerSecond: Math.round(peak * FLOOD),
    queueLimit: 0,
  }
  const [beside, flood] = await Promise.all([
    ask('the neighbor during a flood'),
    context.client.run(loadPlan(flooding, 'the flood', shape, FLOOD_LEAD_MS / 2, openMs + FLOOD_LEAD_MS)),
  ])
  noteStrange(context, flood)
  const who = `another organization at ${NEIGHBOR_SHARE * 100}% of capacity`
  add('neighbour.alone_p99', `p99 of ${who}, alone`, 'ms', alone.latencyMs.p99)
  add(
    'neighbour.beside_p50',
    `its p50 during another organization’s flood of ${FLOOD}× capacity`,
    'ms',
    beside.latencyMs.p50,
  )
  add(
    'neighbour.beside_p99',
    `its p99 during another organization’s flood of ${FLOOD}× capacity`,
    'ms',
    beside.latencyMs.p99,
  )
  add('neighbour.flood_goodput', 'flood requests answered in time', '/s', overloadNumbers(flood).goodputPerSecond)
  add('neighbour.flood_p99', 'p99 of the flood', 'ms', flood.latencyMs.p99)
}

/** Adds measurements named `overload.…`. @throws Error if the service can't be started or reached */
export const measureOverload = async (context: BenchContext): Promise<void> => {
  const { processes, progress, client, collector, options } = context
  const { durations } = options
  const add: Add = (name, label, unit, value) => {
    const better = unit === '/s' || name.endsWith('goodput_share') ? 'higher' : 'lower'
    collector.add({ label, unit, better, name: `overload.${name}` }, value)
  }
  progress.step('overload service starts')
  const environment = { COUNTERSIGN_SIGNER: 'noble', COUNTERSIGN_DEADLINE_MS: String(DEADLINE_MS) }
  const service = await startPolicyService(processes, { workers: 1, environment })
  const flooding = targetOf(service, 'overload')
  const neighbors = { flooding, neighbor: await addNeighbor(service), client: await startLoadClient(processes) }
  const closed: LoadShape = { mode: 'closed', connections: options.connections }
  const peakOf = async (name: string, warmupMs: number, durationMs: number): Promise<number> => {
    const report = await client.run(loadPlan(flooding, name, closed, warmupMs, durationMs))
    noteStrange(context, report)
    const { refusedPercent, latePercent } = overloadNumbers(report)
    // The queue has room for all of them, so the forecast was wrong or the machine was busy.
    if (refusedPercent + latePercent > 1) {
      collector.find(`${name}: ${(refusedPercent + latePercent).toFixed(1)}% of its requests were refused or late`)
    }
    return report.throughputPerSecond
  }
  progress.step('overload warm-up')
  await peakOf('overload warm-up', 0, durations.firstWarmupMs)
  progress.section(durations.rounds)
  for (let round = 1; round <= durations.rounds; round++) {
    const measurePeak = async (): Promise<number> => {
      progress.step(`overload round ${round} of ${durations.rounds}: the peak`)
      const perSecond = await peakOf('overload peak', durations.warmupMs, durations.closedMs)
      add('peak', `the peak, closed loop, ${options.connections} connections`, '/s', perSecond)
      return perSecond
    }
    let peak = await measurePeak()
    for (const multiple of options.ratios ? [10] : MULTIPLES) {
      peak = await measureMultiple(context, flooding, { multiple, peak, peakAfter: measurePeak, add })
    }
    if (!options.ratios) await measureNeighbor(context, neighbors, { peak, add })
    progress.finished()
  }
  await service.managed.stop()
}
