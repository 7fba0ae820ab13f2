// `bun test/long/decision-search.ts`: the decision search at length. Writes a log of many decisions, has the index's own
// process take it in, and times every kind of search while it answers as it does in the service.
//   bun test/long/decision-search.ts [--decisions 500000] [--searches 300] [--seed text]
// Needs about 1.2 kB of disk a decision, in the folder for temporary files, which it checks first and clears at the end.
// Ends with 1 when a kind of search has a 99th percentile of a second or more.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createDecisionSearch, type DecisionSearch } from '../../src/admin/decisions/search.ts'
import { spawnIndexProcess } from '../../src/compose/admin-processes.ts'
import { openSegment } from '../../src/decision-log/segment.ts'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import type { DecisionFilter } from '../../src/store/decision-index/types.ts'
import { decisionRecord, FIRST_MS } from '../admin/support/decisions.ts'
import { answerHelp } from '../support/head-help.ts'

answerHelp(import.meta)

const BYTES_EACH = 1_200
const SEGMENT_BYTES = 268_435_456
const BATCH = 200
const SLOTS = ['w00', 'w01']
const DAYS = 30
const DAY_MS = 86_400_000
const LIMIT_MS = 1_000
const PAGE = 50
const PROGRESS_MS = 5_000

const ORGANIZATION = 'org_AAAAAAAAAAAAAAAA'
const WALLETS = 1_000_000
const PROJECTS = 50
const RULES = 40
/** Decides once in so many: what a search for a needle looks for. */
const RARE_EVERY = 250_000

const { values } = parseArgs({
  options: {
    decisions: { type: 'string', default: '500000' },
    searches: { type: 'string', default: '300' },
    seed: { type: 'string', default: 'decision search' },
  },
})
const positive = (name: string, text: string): number => {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  process.stderr.write(`--${name} must be a positive whole number\n`)
  return process.exit(2)
}
const decisions = positive('decisions', values.decisions)
const searches = positive('searches', values.searches)

/** Mulberry32: quick, and the same for a seed on every machine. */
const createRandom = (seed: string) => {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0)
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}
const random = createRandom(values.seed)

const print = (text: string): void => void process.stdout.write(`${text}\n`)
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`

const hexDigits = (n: number, digits: number): string => n.toString(16).padStart(digits, '0')
/** Spread over all bits, as real ones are: neighbours in the log are no neighbours in an index. */
const scrambled = (n: number): string => hexDigits(Math.imul(n + 1, 0x9e3779b1) >>> 0, 8)
const uuidAt = (n: number): string => `${scrambled(n)}-${hexDigits(n & 0xffff, 4)}-4000-8000-${hexDigits(n, 12)}`
const walletAt = (n: number): string => `0x${scrambled(n)}${hexDigits(n, 32)}`
const projectAt = (n: number): string => `project_${String(n).padStart(16, '0')}`
const atOf = (n: number): number => FIRST_MS + Math.floor((n / decisions) * DAYS * DAY_MS)

/** One wallet in ten decisions is one of a few busy ones; the others are seen some ten times each. */
const someWallet = (): string => walletAt(random(10) === 0 ? random(10) : random(WALLETS))

const recordAt = (n: number): DecisionRecord => {
  const isRare = n % RARE_EVERY === RARE_EVERY / 2
  const compliant = !isRare && random(20) > 0
  return decisionRecord(n, {
    uuid: uuidAt(n),
    at: atOf(n),
    organization: random(4) === 0 ? 'org_BBBBBBBBBBBBBBBB' : ORGANIZATION,
    project: projectAt(random(PROJECTS)),
    policy: `policy_${random(10)}`,
    chain: ['base', 'ethereum', 'polygon', 'solana'][random(4)] ?? 'base',
    from: someWallet(),
    compliant,
    rule: isRare ? 'needle' : `rule-${random(RULES)}`,
  })
}

const writeLog = (directory: string): void => {
  let atMs = FIRST_MS
  const writers = SLOTS.map((slot) =>
    openSegment({ directory, slot, maxBytes: SEGMENT_BYTES, sync: false, clock: { unixMs: () => atMs } }),
  )
  const startedMs = performance.now()
  let saidMs = startedMs
  for (let n = 0; n < decisions; n += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, decisions - n) }, (_, index) => recordAt(n + index))
    atMs = batch[0]?.at ?? atMs
    writers[(n / BATCH) % writers.length]?.append(batch)
    if (performance.now() - saidMs < PROGRESS_MS) continue
    saidMs = performance.now()
    print(`  ${n} written, ${seconds(saidMs - startedMs)}`)
  }
  for (const writer of writers) writer.close()
  const bytes = SLOTS.flatMap((slot) =>
    readdirSync(join(directory, slot)).map((name) => statSync(join(directory, slot, name)).size),
  ).reduce((sum, size) => sum + size, 0)
  print(`log: ${decisions} decisions, ${megabytes(bytes)}, written in ${seconds(performance.now() - startedMs)}`)
}

const indexBytes = (path: string): number =>
  ['', '-wal'].reduce((sum, suffix) => sum + (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0), 0)

/** The nice value of a process: 19 is the lowest priority there is. Linux only. */
const niceOf = (path: string): string => {
  for (const name of readdirSync('/proc').filter((entry) => /^[0-9]+$/.test(entry))) {
    try {
      if (!readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(path)) continue
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      if (name !== String(process.pid)) return fields[16] ?? 'unknown'
    } catch {
      // It ended between being listed and being read: not the one that is looked for.
    }
  }
  return 'unknown'
}

const build = async (search: DecisionSearch, path: string): Promise<void> => {
  const startedMs = performance.now()
  let saidMs = startedMs
  for (;;) {
    // On a machine that is busy with other work it may not get its turn for long: it has the last word on every core.
    const status = await search.ask({ operation: 'status' }).catch(() => null)
    if (status === null) continue
    if (status.decisions === decisions && status.upToDate) break
    if (performance.now() - saidMs > PROGRESS_MS) {
      saidMs = performance.now()
      print(`  ${status.decisions} taken in, ${seconds(saidMs - startedMs)}`)
    }
    await Bun.sleep(100)
  }
  const tookMs = performance.now() - startedMs
  const rate = Math.round(decisions / (tookMs / 1000))
  print(`index: all taken in after ${seconds(tookMs)}, ${rate}/s, at nice ${niceOf(path)}`)
  // What is left are indexes over the complete generations; the file grows until the last one is there.
  let size = indexBytes(path)
  for (let still = 0; still < 8; ) {
    await Bun.sleep(2_000)
    const now = indexBytes(path)
    still = now === size ? still + 1 : 0
    size = now
  }
  print(`index: ${megabytes(size)}, ${Math.round(size / decisions)} bytes a decision`)
}

const someHours = (): Pick<DecisionFilter, 'sinceMs' | 'untilMs'> => {
  const sinceMs = FIRST_MS + random(DAYS * 24 - 2) * 3_600_000
  return { sinceMs, untilMs: sinceMs + 3_600_000 }
}

const SEARCHES: Readonly<Record<string, () => Omit<DecisionFilter, 'organizationId'>>> = {
  'newest first': () => ({}),
  wallet: () => ({ wallet: walletAt(random(WALLETS)) }),
  'busy wallet': () => ({ wallet: walletAt(random(10)) }),
  'wallet never seen': () => ({ wallet: walletAt(WALLETS + random(WALLETS)) }),
  project: () => ({ projectId: projectAt(random(PROJECTS)) }),
  'verdict denied': () => ({ verdict: 'denied' }),
  'verdict compliant': () => ({ verdict: 'compliant' }),
  rule: () => ({ rule: `rule-${random(RULES)}` }),
  'rule that decides once in 250,000': () => ({ rule: 'needle' }),
  'rule never seen': () => ({ rule: 'unheard of' }),
  'an hour': someHours,
  'wallet, denied': () => ({ wallet: walletAt(random(10)), verdict: 'denied' }),
  'project, denied, an hour': () => ({ projectId: projectAt(random(PROJECTS)), verdict: 'denied', ...someHours() }),
  'project, rule, chain': () => ({
    projectId: projectAt(random(PROJECTS)),
    rule: `rule-${random(RULES)}`,
    chain: 'solana',
  }),
  'project, rare rule': () => ({ projectId: projectAt(random(PROJECTS)), rule: 'needle' }),
  'rare rule, compliant: nothing': () => ({ rule: 'needle', verdict: 'compliant' }),
  policy: () => ({ policyId: `policy_${random(10)}` }),
}

interface Timing {
  readonly name: string
  readonly times: number[]
  /** Answers that stopped to stay quick and said so. */
  incomplete: number
  rows: number
}

const time = async (name: string, run: () => Promise<{ complete: boolean; rows: number }>): Promise<Timing> => {
  const timing: Timing = { name, times: [], incomplete: 0, rows: 0 }
  for (let turn = 0; turn < searches; turn++) {
    const startedMs = performance.now()
    const { complete, rows } = await run()
    timing.times.push(performance.now() - startedMs)
    if (!complete) timing.incomplete += 1
    timing.rows += rows
  }
  timing.times.sort((left, right) => left - right)
  return timing
}

const at = ({ times }: Timing, share: number): number => times[Math.ceil(times.length * share) - 1] ?? 0

const report = (timing: Timing): void => {
  const ms = (value: number): string => value.toFixed(1).padStart(8)
  const { name, times, incomplete, rows } = timing
  print(
    `${name.padEnd(36)}${ms(at(timing, 0.5))}${ms(at(timing, 0.99))}${ms(times.at(-1) ?? 0)}` +
      `${(rows / searches).toFixed(1).padStart(8)}${String(incomplete).padStart(12)}`,
  )
}

const measure = async (search: DecisionSearch): Promise<boolean> => {
  print(`\n${'SEARCH'.padEnd(36)}  p50 ms  p99 ms  max ms    rows  incomplete`)
  const timings: Timing[] = []
  const run = async (...parameters: Parameters<typeof time>): Promise<void> => {
    const timing = await time(...parameters)
    report(timing)
    timings.push(timing)
  }
  for (const [name, filter] of Object.entries(SEARCHES)) {
    await run(name, async () => {
      const found = await search.ask({
        operation: 'search',
        filter: { organizationId: ORGANIZATION, ...filter() },
        after: null,
        limit: PAGE,
      })
      return { complete: found.complete, rows: found.decisions.length }
    })
  }
  await run('page from anywhere in the past', async () => {
    const found = await search.ask({
      operation: 'search',
      filter: { organizationId: ORGANIZATION, verdict: 'denied' },
      after: { atMs: atOf(random(decisions)), number: 1 },
      limit: PAGE,
    })
    return { complete: found.complete, rows: found.decisions.length }
  })
  await run('one by its uuid, with its proof', async () => {
    const uuid = uuidAt(random(decisions))
    const [own, other] = await Promise.all(
      [ORGANIZATION, 'org_BBBBBBBBBBBBBBBB'].map((organizationId) =>
        search.ask({ operation: 'find', organizationId, uuid }),
      ),
    )
    if (own === null && other === null) throw new Error(`${uuid} is in the log and was not found`)
    return { complete: true, rows: 1 }
  })
  await run('count of the denied', async () => {
    const { exact } = await search.ask({
      operation: 'count',
      filter: { organizationId: ORGANIZATION, verdict: 'denied' },
    })
    return { complete: exact, rows: 1 }
  })
  for (const by of ['time', 'rule', 'source'] as const) {
    await run(`eight days counted by ${by}`, async () => {
      const untilMs = FIRST_MS + DAYS * DAY_MS
      const question = { organizationId: ORGANIZATION, by, sinceMs: untilMs - 8 * DAY_MS, untilMs }
      return { complete: true, rows: (await search.ask({ operation: 'tally', question })).length }
    })
  }
  const slow = timings.filter((timing) => at(timing, 0.99) >= LIMIT_MS)
  for (const { name } of slow) print(`too slow: ${name}`)
  return slow.length === 0
}

const folder = mkdtempSync(join(tmpdir(), 'countersign-decision-search-'))
const remove = (): void => rmSync(folder, { recursive: true, force: true })
process.on('exit', remove)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const { bavail, bsize } = statfsSync(folder)
const needed = decisions * BYTES_EACH * 1.2
if (bavail * bsize < needed) {
  process.stderr.write(`${megabytes(needed)} are needed in ${tmpdir()}, ${megabytes(bavail * bsize)} are free\n`)
  process.exit(2)
}
const log = join(folder, 'decisions')
const path = join(folder, 'decision-index.db')
mkdirSync(log)
writeLog(log)
const search = createDecisionSearch({
  spawn: spawnIndexProcess({ decisions: log, decisionIndex: path }),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
  onEvent: (event) => print(`the index: ${JSON.stringify(event)}`),
})
let isQuick = false
try {
  await build(search, path)
  isQuick = await measure(search)
} finally {
  search.close()
}
process.exit(isQuick ? 0 : 1)
