// Measures the identity API: creates, reads and verifies sessions as fast as possible, then follows thousands of
// streams while sessions change, and measures the cost for attestations. It has its own service and data folder, and
// runs after the rounds of the other parts, because filling the service takes longer than any other part.
import { type IdentityClient, startIdentityClient } from '../identity/client.ts'
import { filledWallet, fillWallets } from '../identity/fill.ts'
import type { LatencySummary, LoadPlan } from '../load/plan.ts'
import type { RequestPlan } from '../load/requests.ts'
import { requiredValue } from '../quickstart.ts'
import type { Unit } from '../result.ts'
import { type RunningService, residentMegabytes, startService } from '../scale/running-service.ts'
import type { BenchContext } from './context.ts'
import { findingsOf } from './measure-load.ts'

const WALLETS = 1_000_000
const STREAMS = 10_000
/** Streams between two progress lines. */
const STREAMS_STEP = 1_000
const OPENING_LIMIT_MS = 60_000
const CHANGES_PER_SECOND = 500
const SESSIONS_READ = 2_000
/** Number of `load` calls in `measureRequests`. */
const REQUEST_LOADS = 5
/** Wallets that are queried repeatedly: after the first query, the service has them in memory. */
const WALLETS_ASKED = 50_000
/** Wallets that are queried once, so that each is read from the database. More than the measurement can query. */
const WALLETS_NEW = 200_000
const ASKED_AT_ONCE = 32
/** Time to free memory and compile code after the streams are open. */
const SETTLE_MS = 3_000
const GENERATOR_LATENESS_LIMIT_MS = 5

interface Stand {
  readonly context: BenchContext
  readonly service: RunningService
  readonly client: IdentityClient
  readonly url: string
  readonly liveKey: string
  readonly testKey: string
  readonly add: (name: string, label: string, unit: Unit, value: number) => void
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

const load = async (stand: Stand, name: string, label: string, requests: readonly RequestPlan[]): Promise<void> => {
  const { context, client, url, add } = stand
  const { durations, connections } = context.options
  context.progress.step(`identity ${label}`)
  for (let round = 0; round < durations.rounds; round++) {
    const report = await client.requests({
      url,
      requests,
      connections,
      warmupMs: round === 0 ? durations.firstWarmupMs / 2 : durations.warmupMs,
      durationMs: durations.closedMs / 2,
    })
    add(`${name}.throughput`, label, '/s', report.throughputPerSecond)
    add(`${name}.p99`, `${label}: p99, ${connections} connections`, 'ms', report.latencyMs.p99)
    for (const [status, count] of Object.entries(report.statuses)) {
      if (!status.startsWith('2')) context.collector.find(`identity ${label}: ${count} answers with status ${status}`)
    }
    for (const [kind, count] of Object.entries(report.failures)) {
      context.collector.find(`identity ${label}: ${count} requests without an answer: ${kind}`)
    }
  }
  context.progress.finished()
}

const registerRequest = (key: string, size: number): RequestPlan => ({
  method: 'POST',
  path: `/api/v1/register/individual?size=${size}`,
  headers: bearer(key),
  body: null,
})

const makeSessions = async ({ url, liveKey }: Stand): Promise<readonly string[]> => {
  const { method, path, headers } = registerRequest(liveKey, 80)
  const make = async (): Promise<string> => {
    const response = await fetch(url + path, { method, headers })
    return ((await response.json()) as { readonly sessionId: string }).sessionId
  }
  const ids: string[] = []
  while (ids.length < SESSIONS_READ) ids.push(...(await Promise.all(Array.from({ length: 50 }, make))))
  return ids
}

/** Sends each request once, to fill the caches of the service before the measurement. */
const askOnce = async ({ url }: Stand, requests: readonly RequestPlan[]): Promise<void> => {
  let next = 0
  const caller = async (): Promise<void> => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const { method, path, headers, body } = request
      const response = await fetch(url + path, {
        method,
        body,
        headers: { ...headers, 'content-type': 'application/json' },
      })
      await response.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, caller))
}

const measureRequests = async (stand: Stand, wallets: number): Promise<void> => {
  const { liveKey, context } = stand
  context.progress.section(REQUEST_LOADS)
  await load(stand, 'create_300', 'sessions created, QR code of 300 px', [registerRequest(liveKey, 300)])
  await load(stand, 'create_2000', 'sessions created, QR code of 2,000 px', [registerRequest(liveKey, 2_000)])
  const ids = await makeSessions(stand)
  await load(
    stand,
    'status',
    'status requests',
    ids.map((id) => ({
      method: 'GET',
      path: `/api/v1/status/individual/${id}`,
      headers: bearer(liveKey),
      body: null,
    })),
  )
  const stored = `${wallets.toLocaleString('en-US')} stored`
  // Each person has two wallets: one measurement queries the first, the other queries the second.
  const verify = (count: number, place: number): readonly RequestPlan[] => {
    const asked = Math.min(count, wallets / 2)
    const step = Math.floor(wallets / 2 / asked) * 2
    return Array.from({ length: asked }, (_, index) => ({
      method: 'POST',
      path: '/api/v1/verify',
      headers: bearer(liveKey),
      body: JSON.stringify({ address: filledWallet(index * step + place) }),
    }))
  }
  await load(stand, 'verify_new', `wallets verified for the first time, ${stored}`, verify(WALLETS_NEW, 1))
  const asked = verify(WALLETS_ASKED, 0)
  await askOnce(stand, asked)
  await load(stand, 'verify', `wallets verified, ${stored}`, asked)
}

const addLatencies = ({ add }: Stand, name: string, label: string, { p50, p99, p99_9, max }: LatencySummary): void => {
  add(`${name}.p50`, `${label}, p50`, 'ms', p50)
  add(`${name}.p99`, `${label}, p99`, 'ms', p99)
  add(`${name}.p99_9`, `${label}, p99.9`, 'ms', p99_9)
  add(`${name}.max`, `${label}, slowest`, 'ms', max)
}

const changeFor = async (stand: Stand, durationMs: number) => {
  const { context, client } = stand
  const report = await client.change({ ratePerSecond: CHANGES_PER_SECOND, warmupMs: 1_000, durationMs })
  const problems = [...report.problems]
  if (report.undelivered > 0) problems.push(`${report.undelivered} changes were never delivered`)
  if (report.changesPerSecond < CHANGES_PER_SECOND * 0.98) {
    problems.push(`${Math.round(report.changesPerSecond)}/s were acknowledged of ${CHANGES_PER_SECOND}/s asked for`)
  }
  if (report.generatorDelayMs.p99 > GENERATOR_LATENESS_LIMIT_MS) {
    problems.push(`the client itself was ${report.generatorDelayMs.p99.toFixed(1)} ms late (p99)`)
  }
  for (const problem of problems) context.collector.find(`identity streams: ${problem}`)
  return report
}

const attestationPlan = ({ service, context }: Stand, name: string, durationMs: number): LoadPlan => ({
  name,
  url: `${service.url}/v2/attestation`,
  headers: { 'x-api-key': service.key },
  bodies: { seed: 'identity', wallets: 4_096, chain: 'sepolia', target: { to: service.contract } },
  answers: { kind: 'attestation', attester: service.attester, sampleEvery: 1_000 },
  shape: { mode: 'closed', connections: context.options.connections },
  warmupMs: 500,
  durationMs,
  drainMs: 5_000,
  observePid: service.managed.pid,
})

const attest = async (stand: Stand, name: string, durationMs: number): Promise<number> => {
  const report = await stand.context.client.run(attestationPlan(stand, name, durationMs))
  for (const finding of findingsOf(report)) stand.context.collector.find(finding)
  return report.throughputPerSecond
}

/** Returns the number of streams: fewer than STREAMS, with a finding, if the service is too slow. */
const openStreams = async ({ context, client, url, testKey }: Stand): Promise<number> => {
  const { progress, collector } = context
  const all = STREAMS.toLocaleString('en-US')
  const giveUpMs = performance.now() + OPENING_LIMIT_MS
  let open = 0
  progress.section(STREAMS / STREAMS_STEP)
  for (let limitMs = OPENING_LIMIT_MS; open < STREAMS && limitMs > 0; limitMs = giveUpMs - performance.now()) {
    progress.step(`identity ${open.toLocaleString('en-US')} of ${all} streams are open`)
    const streams = Math.min(STREAMS_STEP, STREAMS - open)
    open = await client.follow({ url, key: testKey, streams, limitMs })
    progress.finished()
  }
  if (open < STREAMS) {
    const seconds = OPENING_LIMIT_MS / 1_000
    collector.find(`identity streams: only ${open.toLocaleString('en-US')} of ${all} were opened within ${seconds} s`)
  }
  return open
}

const measureStreams = async (stand: Stand): Promise<void> => {
  const { context, service, client, add } = stand
  const { durations } = context.options
  const idleMegabytes = residentMegabytes(service)
  const open = await openStreams(stand)
  await Bun.sleep(SETTLE_MS)
  const streams = open.toLocaleString('en-US')
  // The goal is for all streams.
  if (open === STREAMS)
    add('streams.memory', `memory of ${streams} open streams`, 'MB', residentMegabytes(service) - idleMegabytes)
  context.progress.section(durations.rounds)
  for (let round = 0; round < durations.rounds; round++) {
    context.progress.step(`identity changes at ${CHANGES_PER_SECOND}/s, round ${round + 1} of ${durations.rounds}`)
    const { deliveryMs, answerMs } = await changeFor(stand, durations.openMs)
    addLatencies(stand, 'delivery', `change delivered to its stream, ${CHANGES_PER_SECOND}/s`, deliveryMs)
    add('change.p99', 'change acknowledged, p99', 'ms', answerMs.p99)
    const alone = await attest(stand, 'attestations with idle streams', durations.closedMs)
    const [changes, beside] = await Promise.all([
      changeFor(stand, durations.closedMs + 1_000),
      attest(stand, 'attestations beside changes', durations.closedMs),
    ])
    add('attestations.alone', 'attestations with idle streams', '/s', alone)
    add('attestations.beside', `attestations with ${CHANGES_PER_SECOND} changes per second`, '/s', beside)
    add('attestations.loss', 'attestation throughput lost to session changes', '%', (1 - beside / alone) * 100)
    add('delivery.saturated_p99', 'change delivered to its stream at full load, p99', 'ms', changes.deliveryMs.p99)
    context.progress.finished()
  }
  await client.close()
}

/** Adds measurements named `identity.…`. @throws Error if the service can't be started, filled or reached */
export const measureIdentity = async (context: BenchContext): Promise<void> => {
  const { processes, progress, collector, options } = context
  progress.step('identity service starts')
  const service = await startService(processes, 'auto')
  const wallets = options.quick ? WALLETS / 10 : WALLETS
  await fillWallets(service, wallets, (there) =>
    progress.step(`identity ${there.toLocaleString('en-US')} wallets stored`),
  )
  const stand: Stand = {
    context,
    service,
    client: await startIdentityClient(processes),
    url: service.url,
    liveKey: requiredValue(service.quickstart, 'IDENTITY_API_KEY'),
    testKey: requiredValue(service.quickstart, 'IDENTITY_TEST_API_KEY'),
    add: (name, label, unit, value) =>
      collector.add({ label, unit, name: `identity.${name}`, better: unit === '/s' ? 'higher' : 'lower' }, value),
  }
  await measureStreams(stand)
  if (!options.ratios) await measureRequests(stand, wallets)
  await service.managed.stop()
}
