// `bun test/long/signing-while-indexing.ts`: what building the search index costs signing. Runs the service over a log of many
// decisions, and measures attestations per second in a closed loop, in turns with the index at rest and with it being built
// anew; prints each pair and the median of their ratios.
//   bun test/long/signing-while-indexing.ts [--decisions 1000000] [--pairs 6] [--seconds 5] [--connections 32]
// The load comes from this process, so the figures say nothing of the service's own limit: only their ratio is meant.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openSegment } from '../../src/decision-log/segment.ts'
import { decisionRecord, FIRST_MS } from '../admin/support/decisions.ts'
import { freePort, startService } from '../service/start-service.ts'
import { answerHelp } from '../support/head-help.ts'

answerHelp(import.meta)

/** Of no process of the service: theirs are numbers. */
const SLOT = 'earlier'
const BATCH = 200
const SEGMENT_BYTES = 268_435_456
const WARM_UP_MS = 3_000
const TICKS_PER_SECOND = 100

const { values } = parseArgs({
  options: {
    decisions: { type: 'string', default: '1000000' },
    pairs: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
  },
})
const positive = (name: keyof typeof values): number => {
  const number = Number(values[name])
  if (Number.isSafeInteger(number) && number > 0) return number
  process.stderr.write(`--${name} must be a positive whole number\n`)
  return process.exit(2)
}
const decisions = positive('decisions')
const pairs = positive('pairs')
const phaseMs = positive('seconds') * 1000
const connections = positive('connections')

const print = (text: string): void => void process.stdout.write(`${text}\n`)

const dataDirectory = mkdtempSync(join(tmpdir(), 'countersign-signing-while-indexing-'))
process.on('exit', () => rmSync(dataDirectory, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const writeLog = (): void => {
  const directory = join(dataDirectory, 'decisions')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const clock = { unixMs: () => FIRST_MS }
  const writer = openSegment({ directory, slot: SLOT, maxBytes: SEGMENT_BYTES, sync: false, clock })
  for (let n = 0; n < decisions; n += BATCH) {
    writer.append(Array.from({ length: Math.min(BATCH, decisions - n) }, (_, index) => decisionRecord(n + index)))
  }
  writer.close()
}

// The same address for both starts: what the first one writes down of it stays.
const dashboardListen = `127.0.0.1:${freePort()}`
const start = () =>
  startService({
    dataDirectory,
    arguments: ['--processes', '1'],
    environment: { COUNTERSIGN_DASHBOARD_LISTEN: dashboardListen },
  })

// A first start makes the folder; it takes none that holds a log already.
await (await start()).stop()
writeLog()
const service = await start()

const admin = async (method: string, path: string): Promise<Record<string, unknown>> => {
  const response = await fetch(`${service.quickstart['DASHBOARD_URL']}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${service.quickstart['ADMIN_API_KEY']}`, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: '{}' }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

const isBuilding = async (): Promise<boolean> => {
  const { up_to_date: upToDate, decisions: known } = await admin('GET', '/decision-index')
  return upToDate !== true && Number(known) < decisions
}

/** Nothing written to it for a second: what is left after the rows are its indexes. */
const untilAtRest = async (): Promise<void> => {
  const path = join(dataDirectory, 'decision-index.db')
  let before = -1
  for (let still = 0; still < 5 || (await isBuilding()); ) {
    await Bun.sleep(1_000)
    const size = Bun.file(path).size + Bun.file(`${path}-wal`).size
    still = size === before ? still + 1 : 0
    before = size
  }
}

/** Processor seconds of the service's own process. */
const cpuSeconds = (): number => {
  const fields = readFileSync(`/proc/${service.process.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

interface Phase {
  readonly perSecond: number
  readonly p99Ms: number
  readonly cpuMicroseconds: number
}

const load = async (durationMs: number): Promise<Phase> => {
  const body = {
    from: '0x1111111111111111111111111111111111111111',
    chain: 'base',
    verification_hash: service.quickstart['VERIFICATION_HASH'],
  }
  const times: number[] = []
  const cpuBefore = cpuSeconds()
  const startedMs = performance.now()
  const one = async (): Promise<void> => {
    while (performance.now() - startedMs < durationMs) {
      const sentMs = performance.now()
      const response = await service.attest(body)
      if (response.status !== 200) throw new Error(`an attestation was answered ${response.status}`)
      await response.arrayBuffer()
      times.push(performance.now() - sentMs)
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
  const tookMs = performance.now() - startedMs
  const cpuUsed = cpuSeconds() - cpuBefore
  times.sort((left, right) => left - right)
  return {
    perSecond: times.length / (tookMs / 1000),
    p99Ms: times[Math.ceil(times.length * 0.99) - 1] ?? 0,
    cpuMicroseconds: (cpuUsed * 1e6) / times.length,
  }
}

/** Of an even number of them, between the two in the middle. */
const median = (numbers: readonly number[]): number => {
  const sorted = [...numbers].sort((left, right) => left - right)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
}
const shown = ({ perSecond, p99Ms, cpuMicroseconds }: Phase): string =>
  `${perSecond.toFixed(0).padStart(7)}/s  p99 ${p99Ms.toFixed(1).padStart(6)} ms  ${cpuMicroseconds.toFixed(0)} µs`

try {
  print(`${decisions} decisions in ${readdirSync(join(dataDirectory, 'decisions', SLOT)).length} files`)
  await untilAtRest()
  await load(WARM_UP_MS)
  const ratios: { readonly rate: number; readonly p99: number; readonly cpu: number }[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const measureRest = async (): Promise<Phase> => {
      await untilAtRest()
      return load(phaseMs)
    }
    const measureBuilding = async (): Promise<Phase> => {
      await admin('POST', '/decision-index/rebuild')
      const phase = await load(phaseMs)
      if (!(await isBuilding())) print('  the index was built before the time was over: take more decisions')
      return phase
    }
    // Which comes first changes, so that a machine that gets slower favours neither.
    const first = pair % 2 === 0 ? await measureRest() : await measureBuilding()
    const second = pair % 2 === 0 ? await measureBuilding() : await measureRest()
    const [rest, building] = pair % 2 === 0 ? [first, second] : [second, first]
    print(`at rest ${shown(rest)}   building ${shown(building)}`)
    ratios.push({
      rate: building.perSecond / rest.perSecond,
      p99: building.p99Ms / rest.p99Ms,
      cpu: building.cpuMicroseconds / rest.cpuMicroseconds,
    })
  }
  const of = (read: (ratio: (typeof ratios)[number]) => number): string => median(ratios.map(read)).toFixed(3)
  print(
    `building / at rest, median of ${pairs}: rate ${of(({ rate }) => rate)}, p99 ${of(({ p99 }) => p99)}, ` +
      `processor time each ${of(({ cpu }) => cpu)}`,
  )
} finally {
  await service.stop()
}
process.exit(0)
