// The decision index over real logs: what it finds is what a reading of the whole log would find, page after page, while the
// log grows, after the process ends, and when its own file is lost.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSegment } from '../../src/decision-log/segment.ts'
import { listSegments } from '../../src/decision-log/segment-name.ts'
import type { DecisionRecord, LogRecord } from '../../src/decision-log/types.ts'
import {
  TALLY_STEPS_MS,
  type TallyBy,
  type TallyQuestion,
  type TallyRow,
} from '../../src/store/decision-index/tallies.ts'
import type { DecisionFilter, DecisionPosition } from '../../src/store/decision-index/types.ts'
import { createDecisionIndex, type DecisionIndex } from '../../workers/index/decision-index.ts'
import { decisionRecord, FIRST_MS, uuidOf, walletOf } from '../admin/support/decisions.ts'
import { temporaryFolder } from './temporary-store.ts'

const ALPHA = 'org_AAAAAAAAAAAAAAAA'
const BETA = 'org_BBBBBBBBBBBBBBBB'

let folder: ReturnType<typeof temporaryFolder>
let index: DecisionIndex
let nowMs: number

const logOf = (): string => join(folder.path, 'decisions')
const indexPath = (): string => join(folder.path, 'index.db')

const open = (monotonicMs = () => nowMs): DecisionIndex =>
  createDecisionIndex({ directory: logOf(), path: indexPath(), monotonicMs, generationRows: 50 })
/** Over the same file, with another clock. */
const reopen = (monotonicMs?: () => number): void => {
  index.close()
  index = open(monotonicMs)
}

beforeEach(async () => {
  folder = temporaryFolder()
  await Bun.$`mkdir -p ${logOf()}`.quiet()
  nowMs = 0
  index = open()
})
afterEach(() => {
  index.close()
  folder.remove()
})

/** Every call is a writer of its own, and so a segment of its own. */
const write = (slot: string, records: readonly LogRecord[], maxBytes = 1e6): void => {
  const writer = openSegment({ directory: logOf(), slot, maxBytes, sync: false, clock: { unixMs: () => FIRST_MS } })
  for (const record of records) writer.append([record])
  writer.close()
}

const takeIn = (): void => {
  while (index.ingest()) while (index.improve());
}

/** Some hundred decisions that differ in everything that can be asked for. */
const varied = (count: number): DecisionRecord[] =>
  Array.from({ length: count }, (_, n) =>
    decisionRecord(n, {
      organization: n % 5 === 0 ? BETA : ALPHA,
      project: `project_${n % 3}`,
      key: `key_${n % 4}`,
      policy: `policy_${n % 2}`,
      chain: ['base', 'ethereum', 'solana'][n % 3] ?? '',
      from: walletOf(n % 17),
      compliant: n % 7 !== 0,
      rule: n % 7 === 0 ? (n % 14 === 0 ? null : 'blocked') : n % 11 === 0 ? 'rare' : 'everyone',
      // Several at the same moment, and some out of order.
      at: FIRST_MS + Math.floor(n / 4) * 10 + (n % 13 === 0 ? -500 : 0),
      ...(n % 3 === 0
        ? {
            shadow: { revision: `revision_${n % 2}`, compliant: n % 9 === 0 ? null : n % 7 !== 0, rule: 'everyone' },
          }
        : {}),
    }),
  )

const outcomeOf = ({ shadow, compliant, rule }: DecisionRecord) =>
  shadow === undefined
    ? null
    : shadow.compliant === null
      ? 'failed'
      : shadow.compliant === compliant && shadow.rule === rule
        ? 'same'
        : 'different'

/** What a filter means, said a second time. */
const wanted = (record: DecisionRecord, filter: DecisionFilter): boolean =>
  record.organization === filter.organizationId &&
  (filter.wallet === undefined || record.from === filter.wallet) &&
  (filter.projectId === undefined || record.project === filter.projectId) &&
  (filter.policyId === undefined || record.policy === filter.policyId) &&
  (filter.verdict === undefined || record.compliant === (filter.verdict === 'compliant')) &&
  (filter.rule === undefined || record.rule === filter.rule) &&
  (filter.chain === undefined || record.chain === filter.chain) &&
  (filter.shadow === undefined ||
    (record.shadow?.revision === filter.shadow.revisionId && outcomeOf(record) === filter.shadow.outcome)) &&
  (filter.sinceMs === undefined || record.at >= filter.sinceMs) &&
  (filter.untilMs === undefined || record.at < filter.untilMs)

/** All that is counted, by each grouping. */
const tallied = (): readonly number[] =>
  (['time', 'rule', 'source'] as const).map((by) =>
    index
      .tally({ organizationId: null, by, sinceMs: 0, untilMs: FIRST_MS + 1e9 })
      .reduce((sum, { compliant, denied }) => sum + compliant + denied, 0),
  )

/** All pages of a search. */
/** More than any search here has. */
const PAGES_MAX = 2_000

const pages = (filter: DecisionFilter, limit: number): DecisionRecord[] => {
  const found: DecisionRecord[] = []
  let after: DecisionPosition | null = null
  for (let turn = 0; turn < PAGES_MAX; turn++) {
    const page = index.search(filter, after, limit)
    expect(page.decisions.length).toBeLessThanOrEqual(limit)
    found.push(...page.decisions.map(({ record }) => record))
    after = page.next
    if (after === null) return found
  }
  throw new Error(`the search comes to no end: after ${PAGES_MAX} pages it goes on at ${JSON.stringify(after)}`)
}

const FILTERS: readonly Omit<DecisionFilter, 'organizationId'>[] = [
  {},
  { wallet: walletOf(3) },
  { wallet: walletOf(999) },
  { projectId: 'project_1' },
  { projectId: 'nowhere' },
  { policyId: 'policy_1' },
  { verdict: 'compliant' },
  { verdict: 'denied' },
  { rule: 'rare' },
  { rule: null },
  { rule: 'unheard of' },
  { chain: 'solana' },
  { sinceMs: FIRST_MS + 200, untilMs: FIRST_MS + 300 },
  { untilMs: FIRST_MS },
  { sinceMs: FIRST_MS + 1e9 },
  { shadow: { revisionId: 'revision_1', outcome: 'same' } },
  { shadow: { revisionId: 'revision_0', outcome: 'different' } },
  { shadow: { revisionId: 'revision_0', outcome: 'failed' } },
  { wallet: walletOf(3), verdict: 'denied' },
  { wallet: walletOf(4), projectId: 'project_1', sinceMs: FIRST_MS + 100 },
  { projectId: 'project_0', rule: 'everyone', chain: 'base', verdict: 'compliant' },
]

describe('a search', () => {
  test('finds what reading the whole log finds, newest first, with every filter and size of page', () => {
    const records = varied(333)
    // Two writers at a time, over several segments each: three generations with indexes and one without.
    write(
      'w00',
      records.filter((_, n) => n % 2 === 0),
      9_000,
    )
    write(
      'w01',
      records.filter((_, n) => n % 2 === 1),
      9_000,
    )
    takeIn()
    expect(index.status()).toMatchObject({ decisions: 333, unreadable: 0, upToDate: true })
    for (const organizationId of [ALPHA, BETA]) {
      for (const filter of FILTERS) {
        const all = { organizationId, ...filter }
        const expected = records.filter((record) => wanted(record, all))
        expect(index.count(all)).toEqual({ count: expected.length, exact: true })
        for (const limit of [1, 7, 500]) {
          const found = pages(all, limit)
          expect(found.map(({ uuid }) => uuid).sort()).toEqual(expected.map(({ uuid }) => uuid).sort())
          expect(found.map(({ at }) => at)).toEqual(expected.map(({ at }) => at).sort((left, right) => right - left))
        }
      }
    }
  })

  test('goes on from where a page ended, whatever came meanwhile', () => {
    write('w00', varied(120))
    takeIn()
    const filter = { organizationId: ALPHA }
    const before = pages(filter, 500).map(({ uuid }) => uuid)
    const first = index.search(filter, null, 10)
    write('w00', [decisionRecord(500, { at: FIRST_MS + 1e6 }), decisionRecord(501, { at: FIRST_MS - 1e6 })])
    takeIn()
    const second = index.search(filter, first.next, 10)
    expect([...first.decisions, ...second.decisions].map(({ record }) => record.uuid)).toEqual(before.slice(0, 20))
  })

  test('that takes long stops, says so, and goes on', () => {
    write('w00', varied(300))
    takeIn()
    let looks = 0
    // Each look at the clock is three tenths of a second later.
    reopen(() => looks++ * 300)
    const filter = { organizationId: ALPHA, rule: 'rare' }
    const found: string[] = []
    let incomplete = 0
    let after: DecisionPosition | null = null
    let turns = 0
    do {
      const page = index.search(filter, after, 5)
      found.push(...page.decisions.map(({ record }) => record.uuid))
      if (!page.complete) incomplete += 1
      after = page.next
      turns += 1
    } while (after !== null && turns < PAGES_MAX)
    // Otherwise it comes back to where it was.
    expect(after).toBeNull()
    expect(incomplete).toBeGreaterThan(0)
    const expected = varied(300).filter((record) => wanted(record, filter))
    expect(found.toSorted()).toEqual(expected.map(({ uuid }) => uuid).sort())
    expect(index.count(filter).exact).toBe(false)
  })

  test('whose last page is full says that nothing follows', () => {
    const records = Array.from({ length: 10 }, (_, n) => decisionRecord(n, { organization: ALPHA, at: FIRST_MS + n }))
    write('w00', records)
    takeIn()
    const page = index.search({ organizationId: ALPHA }, null, 10)
    expect([page.decisions.length, page.next, page.complete]).toEqual([10, null, true])
  })

  test('that stops shows nothing that a generation it has not read may come before', () => {
    const at = (n: number): number => FIRST_MS + (n < 50 ? 0 : 250) + (n % 50) * 10
    const records = Array.from({ length: 100 }, (_, n) => decisionRecord(n, { organization: ALPHA, at: at(n) }))
    write('w00', records.slice(0, 50))
    write('w00', records.slice(50))
    takeIn()
    index.close()
    let looks = 0
    index = createDecisionIndex({
      directory: logOf(),
      path: indexPath(),
      generationRows: 50,
      // The budget is used up once the newer generation is read.
      monotonicMs: () => (looks++ < 2 ? 0 : 60_000),
    })
    const page = index.search({ organizationId: ALPHA }, null, 500)
    expect(page.complete).toBe(false)
    const oldest = Math.min(...page.decisions.map(({ record }) => record.at))
    expect(page.decisions.length).toBeGreaterThan(0)
    expect(oldest).toBeGreaterThan(at(49))
    const rest = index.search({ organizationId: ALPHA }, page.next, 500)
    const found = [...page.decisions, ...rest.decisions].map(({ record }) => record.uuid)
    expect(found.toSorted()).toEqual(records.map(({ uuid }) => uuid).sort())
  })

  test('never shows another organization’s decision, not even one whose number is the same', () => {
    write('w00', [decisionRecord(1), decisionRecord(2, { organization: BETA, from: walletOf(1) })])
    takeIn()
    expect(pages({ organizationId: BETA, wallet: walletOf(1) }, 10).map(({ uuid }) => uuid)).toEqual([uuidOf(2)])
    // As if the numbers of two wallets clashed.
    const file = new Database(indexPath())
    file.run('UPDATE decisions_1 SET wallet = (SELECT wallet FROM decisions_1 ORDER BY number LIMIT 1)')
    file.close()
    expect(pages({ organizationId: ALPHA, wallet: walletOf(2) }, 10)).toEqual([])
    expect(index.find(BETA, uuidOf(1))).toBeNull()
    expect(index.find(ALPHA, uuidOf(1))).toMatchObject({ record: { uuid: uuidOf(1) }, withheld: false })
  })

  test('knows of answers that were never sent', () => {
    write('w00', [decisionRecord(1), decisionRecord(2), { kind: 'withheld', uuid: uuidOf(1), at: FIRST_MS + 9 }])
    takeIn()
    const found = index.search({ organizationId: ALPHA }, null, 10).decisions
    expect(found.map(({ record, withheld }) => [record.uuid, withheld])).toEqual([
      [uuidOf(2), false],
      [uuidOf(1), true],
    ])
    expect(index.find(ALPHA, uuidOf(1))?.withheld).toBe(true)
    expect(index.status().decisions).toBe(2)
  })
})

test('a rebuild that fails is tried again with the next batch', () => {
  write('w00', [decisionRecord(1)])
  takeIn()
  // There can be no file of this name.
  rmSync(indexPath(), { force: true })
  mkdirSync(join(indexPath(), 'in the way'), { recursive: true })
  expect(() => index.rebuild()).toThrow()
  expect(() => index.ingest()).toThrow()
  rmSync(indexPath(), { recursive: true })
  takeIn()
  expect(index.status()).toMatchObject({ decisions: 1, upToDate: true })
  expect(index.find(ALPHA, uuidOf(1))).not.toBeNull()
})

describe('what is counted', () => {
  /** By quarter, rule or key, as a reading of the whole log counts it. */
  const counted = (records: readonly DecisionRecord[], groupOf: (record: DecisionRecord) => string) => {
    const groups = new Map<string, [compliant: number, denied: number]>()
    for (const record of records) {
      const group = groups.get(groupOf(record)) ?? [0, 0]
      group[record.compliant ? 0 : 1] += 1
      groups.set(groupOf(record), group)
    }
    return Object.fromEntries(groups)
  }
  const ask = (question: Omit<TallyQuestion, 'untilMs'>, groupOf: (row: TallyRow) => string) =>
    Object.fromEntries(
      index
        .tally({ ...question, untilMs: FIRST_MS + 1e9 })
        .map((row): [string, [number, number]] => [groupOf(row), [row.compliant, row.denied]]),
    )

  test('by time, rule and key is what reading the whole log counts', () => {
    const records = varied(333).map((record, n) => ({ ...record, at: FIRST_MS + n * 60_000 }))
    write('w00', records.slice(0, 200), 9_000)
    write('w01', records.slice(200), 9_000)
    takeIn()
    const sinceMs = FIRST_MS + 5_000_000
    const since = (by: TallyBy) => records.filter(({ at }) => at >= sinceMs - (sinceMs % TALLY_STEPS_MS[by]))
    expect(since('rule').length).toBeGreaterThan(since('time').length)
    for (const organizationId of [ALPHA, BETA]) {
      const own = (by: TallyBy) => since(by).filter(({ organization }) => organization === organizationId)
      expect(ask({ organizationId, by: 'time', sinceMs }, ({ atMs }) => String(atMs))).toEqual(
        counted(own('time'), ({ at }) => String(at - (at % TALLY_STEPS_MS.time))),
      )
      expect(ask({ organizationId, by: 'rule', sinceMs }, ({ policyId, rule }) => `${policyId} ${rule}`)).toEqual(
        counted(own('rule'), ({ policy, rule }) => `${policy} ${rule}`),
      )
    }
    const groups = index.tally({ organizationId: null, by: 'source', sinceMs, untilMs: FIRST_MS + 1e9 })
    expect(groups.map((row) => row.compliant + row.denied)).toEqual(
      groups.map((row) => row.compliant + row.denied).sort((left, right) => right - left),
    )
    expect(ask({ organizationId: null, by: 'source', sinceMs }, (row) => `${row.organizationId} ${row.keyId}`)).toEqual(
      counted(since('source'), ({ organization, key }) => `${organization} ${key}`),
    )
    expect(index.tally({ organizationId: 'nobody', by: 'time', sinceMs: 0, untilMs: FIRST_MS + 1e9 })).toEqual([])
  })

  test('over days is the same, whenever they begin, and what was later stands beside', () => {
    const HOUR_MS = 3_600_000
    const records = varied(333).map((record, n) => ({ ...record, at: FIRST_MS + n * HOUR_MS }))
    write('w00', records)
    takeIn()
    const startMs = FIRST_MS - (FIRST_MS % HOUR_MS)
    for (const [fromHours, laterHours, toHours] of [
      [0, 30, 333],
      [7, 100, 200],
      [24, 48, 72],
      [30, 31, 33],
      [50, 300, 120],
    ] as const) {
      const [sinceMs, laterMs, untilMs] = [fromHours, laterHours, toHours].map((hours) => startMs + hours * HOUR_MS)
      const within = records.filter(({ at, organization }) => organization === ALPHA && at >= sinceMs! && at < untilMs!)
      const groupOf = ({ policy, rule }: DecisionRecord) => `${policy} ${rule}`
      const rows = index.tally({
        organizationId: ALPHA,
        by: 'rule',
        sinceMs: sinceMs!,
        untilMs: untilMs!,
        laterMs: laterMs!,
      })
      const keyed = (read: (row: TallyRow) => [number, number]) =>
        Object.fromEntries(
          rows.map((row) => [`${row.policyId} ${row.rule}`, read(row)] as const).filter(([, [a, b]]) => a + b > 0),
        )
      expect(keyed(({ compliant, denied }) => [compliant, denied])).toEqual(counted(within, groupOf))
      expect(keyed(({ laterCompliant, laterDenied }) => [laterCompliant, laterDenied])).toEqual(
        counted(
          within.filter(({ at }) => at >= laterMs!),
          groupOf,
        ),
      )
    }
  })
})

describe('the log', () => {
  test('is taken in once, however often the process ends on the way', () => {
    const records = varied(200)
    write('w00', records.slice(0, 120), 9_000)
    write('w01', records.slice(120), 9_000)
    for (let turn = 0; turn < 12; turn++) {
      // Ends a batch after each few lines.
      let looks = 0
      reopen(() => looks++ * 3)
      index.ingest()
      index.improve()
    }
    reopen()
    takeIn()
    expect(index.status().decisions).toBe(200)
    expect(pages({ organizationId: ALPHA }, 500).length + pages({ organizationId: BETA }, 500).length).toBe(200)
    expect(tallied()).toEqual([200, 200, 200])
  })

  test('is read to its end at one look, unless a batch is full before', () => {
    write('w00', varied(40))
    expect(index.ingest()).toBe(false)
    expect(index.status()).toMatchObject({ decisions: 40, upToDate: true })
    write('w01', varied(40))
    let looks = 0
    reopen(() => looks++ * 3)
    expect(index.ingest()).toBe(true)
    expect(index.status()).toMatchObject({ upToDate: false })
    expect(index.status().decisions).toBeWithin(41, 80)
  })

  test('has lines that are none of ours: they are counted and passed over', () => {
    write('w00', [decisionRecord(1)])
    const [segment] = listSegments(join(logOf(), 'w00'))
    const path = join(logOf(), 'w00', segment?.name ?? '')
    const good = readFileSync(path, 'utf8')
    writeFileSync(path, `${good}not json\n{"kind":"attestation"}\n[]\n`)
    takeIn()
    expect(index.status()).toMatchObject({ decisions: 1, unreadable: 3 })
  })

  test('may be cut by the writer that comes after a crash: what was taken in is forgotten', () => {
    write('w00', [decisionRecord(1), decisionRecord(2)])
    const [segment] = listSegments(join(logOf(), 'w00'))
    const path = join(logOf(), 'w00', segment?.name ?? '')
    const whole = readFileSync(path)
    takeIn()
    truncateSync(path, whole.lastIndexOf(10, whole.length - 2) + 1)
    write('w00', [decisionRecord(3)])
    takeIn()
    expect(pages({ organizationId: ALPHA }, 10).map(({ uuid }) => uuid)).toEqual([uuidOf(3), uuidOf(1)])
    expect(index.status().decisions).toBe(2)
    expect(index.find(ALPHA, uuidOf(2))).toBeNull()
    expect(tallied()).toEqual([2, 2, 2])
  })

  test('shows nothing for a file that was archived, and what is still there', () => {
    write('w00', [decisionRecord(1)])
    write('w00', [decisionRecord(2)])
    takeIn()
    const [first] = listSegments(join(logOf(), 'w00'))
    rmSync(join(logOf(), 'w00', first?.name ?? ''))
    expect(pages({ organizationId: ALPHA }, 1).map(({ uuid }) => uuid)).toEqual([uuidOf(2)])
    expect(index.search({ organizationId: ALPHA }, null, 2).missing).toBe(1)
    expect(index.find(ALPHA, uuidOf(1))).toBeNull()
  })
})

describe('the index’s own file', () => {
  test('can be thrown away and built again', () => {
    write('w00', varied(120))
    takeIn()
    const before = pages({ organizationId: ALPHA }, 50).map(({ uuid }) => uuid)
    index.rebuild()
    expect(index.status()).toEqual({ decisions: 0, unreadable: 0, newestAtMs: null, upToDate: false })
    takeIn()
    expect(pages({ organizationId: ALPHA }, 50).map(({ uuid }) => uuid)).toEqual(before)
  })

  for (const [what, damage] of [
    ['is no database', () => writeFileSync(indexPath(), 'x'.repeat(20_000))],
    ['is empty', () => writeFileSync(indexPath(), '')],
    ['is gone', () => rmSync(indexPath())],
    [
      'is of another version',
      () => {
        const file = new Database(indexPath())
        file.run("UPDATE meta SET value = '0' WHERE name = 'version'")
        file.close()
      },
    ],
  ] as const) {
    test(`is made anew when it ${what}`, () => {
      write('w00', varied(60))
      takeIn()
      index.close()
      for (const suffix of ['-wal', '-shm']) rmSync(indexPath() + suffix, { force: true })
      damage()
      index = open()
      takeIn()
      expect(index.status()).toMatchObject({ decisions: 60, upToDate: true })
      expect(existsSync(indexPath())).toBe(true)
    })
  }
})
