// The decision index of real logs finds the same decisions as a scan of the whole log: in pages, while the log grows,
// after crashes, and after the loss of its own file.
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
/** Opens the same file with another clock. */
const reopen = (monotonicMs?: () => number): void => {
  index.close()
  index = open(monotonicMs)
}

/** A clock that advances at each reading. */
const stepping = (stepMs: number) => {
  let readings = 0
  return () => readings++ * stepMs
}

beforeEach(() => {
  folder = temporaryFolder()
  mkdirSync(logOf())
  nowMs = 0
  index = open()
})
afterEach(() => {
  index.close()
  folder.remove()
})

/** Writes the records to a new segment. */
const write = (slot: string, records: readonly LogRecord[], maxBytes = 1e6): void => {
  const writer = openSegment({ directory: logOf(), slot, maxBytes, sync: false, clock: { unixMs: () => FIRST_MS } })
  for (const record of records) writer.append([record])
  writer.close()
}

const ingestAll = (): void => {
  while (index.ingest()) while (index.improve());
}

/** Decisions that differ in every field that filters use. */
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
      // Several decisions have the same time, and some are out of order.
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

/** An independent implementation of filters. */
const matches = (record: DecisionRecord, filter: DecisionFilter): boolean =>
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

/** The total count of each grouping. */
const tallied = (): readonly number[] =>
  (['time', 'rule', 'source'] as const).map((by) =>
    index
      .tally({ organizationId: null, by, sinceMs: 0, untilMs: FIRST_MS + 1e9 })
      .reduce((sum, { compliant, denied }) => sum + compliant + denied, 0),
  )

const PAGES_MAX = 2_000

/** Reads all pages of a search. */
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
  throw new Error(`the search has more than ${PAGES_MAX} pages, and continues at ${JSON.stringify(after)}`)
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
  test('finds the same decisions as a scan of the log, newest first, with every filter and page size', () => {
    const records = varied(333)
    // Two writers with several segments each: three generations with indexes and one without.
    for (const writer of [0, 1]) {
      const own = records.filter((_, n) => n % 2 === writer)
      write(`w0${writer}`, own, 9_000)
    }
    ingestAll()
    expect(index.status()).toMatchObject({ decisions: 333, unreadable: 0, upToDate: true })
    for (const organizationId of [ALPHA, BETA]) {
      for (const filter of FILTERS) {
        const all = { organizationId, ...filter }
        const expected = records.filter((record) => matches(record, all))
        expect(index.count(all)).toEqual({ count: expected.length, exact: true })
        for (const limit of [1, 7, 500]) {
          const found = pages(all, limit)
          expect(found.map(({ uuid }) => uuid).sort()).toEqual(expected.map(({ uuid }) => uuid).sort())
          expect(found.map(({ at }) => at)).toEqual(expected.map(({ at }) => at).sort((left, right) => right - left))
        }
      }
    }
  })

  test('continues after the end of a page, even if decisions are written between', () => {
    write('w00', varied(120))
    ingestAll()
    const filter = { organizationId: ALPHA }
    const before = pages(filter, 500).map(({ uuid }) => uuid)
    const first = index.search(filter, null, 10)
    write('w00', [decisionRecord(500, { at: FIRST_MS + 1e6 }), decisionRecord(501, { at: FIRST_MS - 1e6 })])
    ingestAll()
    const second = index.search(filter, first.next, 10)
    expect([...first.decisions, ...second.decisions].map(({ record }) => record.uuid)).toEqual(before.slice(0, 20))
  })

  test('that takes a long time returns an incomplete page, and continues with the next', () => {
    write('w00', varied(300))
    ingestAll()
    reopen(stepping(300))
    const filter = { organizationId: ALPHA, rule: 'rare' }
    const found: string[] = []
    let incomplete = 0
    let after: DecisionPosition | null = null
    for (let turn = 0; turn < PAGES_MAX; turn++) {
      const page = index.search(filter, after, 5)
      found.push(...page.decisions.map(({ record }) => record.uuid))
      if (!page.complete) incomplete += 1
      after = page.next
      if (after === null) break
    }
    expect([after, incomplete > 0]).toEqual([null, true])
    const expected = varied(300).filter((record) => matches(record, filter))
    expect(found.toSorted()).toEqual(expected.map(({ uuid }) => uuid).sort())
    expect(index.count(filter).exact).toBe(false)
  })

  test('whose last page is full has no next page', () => {
    const records = Array.from({ length: 10 }, (_, n) => decisionRecord(n, { organization: ALPHA, at: FIRST_MS + n }))
    write('w00', records)
    ingestAll()
    const page = index.search({ organizationId: ALPHA }, null, 10)
    expect([page.decisions.length, page.next, page.complete]).toEqual([10, null, true])
  })

  test('that stops early returns no decision that is older than an unread generation', () => {
    const at = (n: number): number => FIRST_MS + (n < 50 ? 0 : 250) + (n % 50) * 10
    const records = Array.from({ length: 100 }, (_, n) => decisionRecord(n, { organization: ALPHA, at: at(n) }))
    write('w00', records.slice(0, 50))
    write('w00', records.slice(50))
    ingestAll()
    let looks = 0
    // The budget is used up after the newer generation.
    reopen(() => (looks++ < 2 ? 0 : 60_000))
    const page = index.search({ organizationId: ALPHA }, null, 500)
    expect(page.complete).toBe(false)
    const oldest = Math.min(...page.decisions.map(({ record }) => record.at))
    expect(page.decisions.length).toBeGreaterThan(0)
    expect(oldest).toBeGreaterThan(at(49))
    const rest = index.search({ organizationId: ALPHA }, page.next, 500)
    const found = [...page.decisions, ...rest.decisions].map(({ record }) => record.uuid)
    expect(found.toSorted()).toEqual(records.map(({ uuid }) => uuid).sort())
  })

  test('never returns another organization’s decision, even if numbers of wallets collide', () => {
    write('w00', [decisionRecord(1), decisionRecord(2, { organization: BETA, from: walletOf(1) })])
    ingestAll()
    expect(pages({ organizationId: BETA, wallet: walletOf(1) }, 10).map(({ uuid }) => uuid)).toEqual([uuidOf(2)])
    // The numbers of two wallets collide.
    const file = new Database(indexPath())
    file.run('UPDATE decisions_1 SET wallet = (SELECT wallet FROM decisions_1 ORDER BY number LIMIT 1)')
    file.close()
    expect(pages({ organizationId: ALPHA, wallet: walletOf(2) }, 10)).toEqual([])
    expect(index.find(BETA, uuidOf(1))).toBeNull()
    expect(index.find(ALPHA, uuidOf(1))).toMatchObject({ record: { uuid: uuidOf(1) }, withheld: false })
  })

  test('marks withheld answers', () => {
    write('w00', [decisionRecord(1), decisionRecord(2), { kind: 'withheld', uuid: uuidOf(1), at: FIRST_MS + 9 }])
    ingestAll()
    const found = index.search({ organizationId: ALPHA }, null, 10).decisions
    expect(found.map(({ record, withheld }) => [record.uuid, withheld])).toEqual([
      [uuidOf(2), false],
      [uuidOf(1), true],
    ])
    expect(index.find(ALPHA, uuidOf(1))?.withheld).toBe(true)
    expect(index.status().decisions).toBe(2)
  })
})

test('a failed rebuild is retried with the next batch', () => {
  write('w00', [decisionRecord(1)])
  ingestAll()
  // A folder prevents the creation of the file.
  rmSync(indexPath(), { force: true })
  mkdirSync(join(indexPath(), 'in the way'), { recursive: true })
  expect(() => index.rebuild()).toThrow()
  expect(() => index.ingest()).toThrow()
  rmSync(indexPath(), { recursive: true })
  ingestAll()
  expect(index.status()).toMatchObject({ decisions: 1, upToDate: true })
  expect(index.find(ALPHA, uuidOf(1))).not.toBeNull()
})

describe('a tally', () => {
  /** Counts of a scan of the log, by group. */
  const counted = (records: readonly DecisionRecord[], groupOf: (record: DecisionRecord) => string) => {
    const groups = new Map<string, [compliant: number, denied: number]>()
    for (const record of records) {
      const group = groups.get(groupOf(record)) ?? [0, 0]
      group[record.compliant ? 0 : 1] += 1
      groups.set(groupOf(record), group)
    }
    return Object.fromEntries(groups)
  }
  const tally = (question: Omit<TallyQuestion, 'untilMs'>, groupOf: (row: TallyRow) => string) =>
    Object.fromEntries(
      index
        .tally({ ...question, untilMs: FIRST_MS + 1e9 })
        .map((row): [string, [number, number]] => [groupOf(row), [row.compliant, row.denied]]),
    )

  test('by time, rule and key equals the counts of a scan of the log', () => {
    const records = varied(333).map((record, n) => ({ ...record, at: FIRST_MS + n * 60_000 }))
    write('w00', records.slice(0, 200), 9_000)
    write('w01', records.slice(200), 9_000)
    ingestAll()
    const sinceMs = FIRST_MS + 5_000_000
    const since = (by: TallyBy) => records.filter(({ at }) => at >= sinceMs - (sinceMs % TALLY_STEPS_MS[by]))
    expect(since('rule').length).toBeGreaterThan(since('time').length)
    for (const organizationId of [ALPHA, BETA]) {
      const own = (by: TallyBy) => since(by).filter(({ organization }) => organization === organizationId)
      expect(tally({ organizationId, by: 'time', sinceMs }, ({ atMs }) => String(atMs))).toEqual(
        counted(own('time'), ({ at }) => String(at - (at % TALLY_STEPS_MS.time))),
      )
      expect(tally({ organizationId, by: 'rule', sinceMs }, ({ policyId, rule }) => `${policyId} ${rule}`)).toEqual(
        counted(own('rule'), ({ policy, rule }) => `${policy} ${rule}`),
      )
    }
    const groups = index.tally({ organizationId: null, by: 'source', sinceMs, untilMs: FIRST_MS + 1e9 })
    expect(groups.map((row) => row.compliant + row.denied)).toEqual(
      groups.map((row) => row.compliant + row.denied).sort((left, right) => right - left),
    )
    expect(
      tally({ organizationId: null, by: 'source', sinceMs }, (row) => `${row.organizationId} ${row.keyId}`),
    ).toEqual(counted(since('source'), ({ organization, key }) => `${organization} ${key}`))
    expect(index.tally({ organizationId: 'nobody', by: 'time', sinceMs: 0, untilMs: FIRST_MS + 1e9 })).toEqual([])
  })

  test.each([
    [0, 30, 333],
    [7, 100, 200],
    [24, 48, 72],
    [30, 31, 33],
    [50, 300, 120],
  ])('from hour %i to %i and %i equals the counts of a scan of the log', (fromHours, laterHours, toHours) => {
    const HOUR_MS = 3_600_000
    const records = varied(333).map((record, n) => ({ ...record, at: FIRST_MS + n * HOUR_MS }))
    write('w00', records)
    ingestAll()
    const timeOf = (hours: number) => FIRST_MS - (FIRST_MS % HOUR_MS) + hours * HOUR_MS
    const [sinceMs, laterMs, untilMs] = [timeOf(fromHours), timeOf(laterHours), timeOf(toHours)]
    const within = records.filter(({ at, organization }) => organization === ALPHA && at >= sinceMs && at < untilMs)
    const rows = index.tally({ organizationId: ALPHA, by: 'rule', sinceMs, untilMs, laterMs })
    const keyed = (read: (row: TallyRow) => [number, number]) =>
      Object.fromEntries(
        rows.map((row) => [`${row.policyId} ${row.rule}`, read(row)] as const).filter(([, [a, b]]) => a + b > 0),
      )
    const groupOf = ({ policy, rule }: DecisionRecord) => `${policy} ${rule}`
    expect(keyed(({ compliant, denied }) => [compliant, denied])).toEqual(counted(within, groupOf))
    const later = within.filter(({ at }) => at >= laterMs)
    expect(keyed(({ laterCompliant, laterDenied }) => [laterCompliant, laterDenied])).toEqual(counted(later, groupOf))
  })
})

describe('the log', () => {
  test('is ingested once, even if the process restarts', () => {
    const records = varied(200)
    write('w00', records.slice(0, 120), 9_000)
    write('w01', records.slice(120), 9_000)
    for (let turn = 0; turn < 12; turn++) {
      // A batch ends after a few lines.
      reopen(stepping(3))
      index.ingest()
      index.improve()
    }
    reopen()
    ingestAll()
    expect(index.status().decisions).toBe(200)
    expect(pages({ organizationId: ALPHA }, 500).length + pages({ organizationId: BETA }, 500).length).toBe(200)
    expect(tallied()).toEqual([200, 200, 200])
  })

  test('is ingested to its end in one call, unless a batch is full', () => {
    write('w00', varied(40))
    expect(index.ingest()).toBe(false)
    expect(index.status()).toMatchObject({ decisions: 40, upToDate: true })
    write('w01', varied(40))
    reopen(stepping(3))
    expect(index.ingest()).toBe(true)
    expect(index.status()).toMatchObject({ upToDate: false })
    expect(index.status().decisions).toBeWithin(41, 80)
  })

  test('can have unreadable lines, which are counted and skipped', () => {
    write('w00', [decisionRecord(1)])
    const [segment] = listSegments(join(logOf(), 'w00'))
    const path = join(logOf(), 'w00', segment?.name ?? '')
    const good = readFileSync(path, 'utf8')
    writeFileSync(path, `${good}not json\n{"kind":"attestation"}\n[]\n`)
    ingestAll()
    expect(index.status()).toMatchObject({ decisions: 1, unreadable: 3 })
  })

  test('can be truncated by the writer after a crash, which removes the truncated decision', () => {
    write('w00', [decisionRecord(1), decisionRecord(2)])
    const [segment] = listSegments(join(logOf(), 'w00'))
    const path = join(logOf(), 'w00', segment?.name ?? '')
    const whole = readFileSync(path)
    ingestAll()
    truncateSync(path, whole.lastIndexOf(10, whole.length - 2) + 1)
    write('w00', [decisionRecord(3)])
    ingestAll()
    expect(pages({ organizationId: ALPHA }, 10).map(({ uuid }) => uuid)).toEqual([uuidOf(3), uuidOf(1)])
    expect(index.status().decisions).toBe(2)
    expect(index.find(ALPHA, uuidOf(2))).toBeNull()
    expect(tallied()).toEqual([2, 2, 2])
  })

  test('can lack an archived segment, whose decisions are then missing', () => {
    write('w00', [decisionRecord(1)])
    write('w00', [decisionRecord(2)])
    ingestAll()
    const [first] = listSegments(join(logOf(), 'w00'))
    rmSync(join(logOf(), 'w00', first?.name ?? ''))
    expect(pages({ organizationId: ALPHA }, 1).map(({ uuid }) => uuid)).toEqual([uuidOf(2)])
    expect(index.search({ organizationId: ALPHA }, null, 2).missing).toBe(1)
    expect(index.find(ALPHA, uuidOf(1))).toBeNull()
  })
})

describe('the index’s own file', () => {
  test('can be rebuilt', () => {
    write('w00', varied(120))
    ingestAll()
    const before = pages({ organizationId: ALPHA }, 50).map(({ uuid }) => uuid)
    index.rebuild()
    expect(index.status()).toEqual({ decisions: 0, unreadable: 0, newestAtMs: null, upToDate: false })
    ingestAll()
    expect(pages({ organizationId: ALPHA }, 50).map(({ uuid }) => uuid)).toEqual(before)
  })

  const setVersion = (): void => {
    const file = new Database(indexPath())
    file.run("UPDATE meta SET value = '0' WHERE name = 'version'")
    file.close()
  }
  test.each([
    ['is not a database', () => writeFileSync(indexPath(), 'x'.repeat(20_000))],
    ['is empty', () => writeFileSync(indexPath(), '')],
    ['is missing', () => rmSync(indexPath())],
    ['has another version', setVersion],
  ])('is rebuilt if it %s', (_name, damage) => {
    write('w00', varied(60))
    ingestAll()
    index.close()
    for (const suffix of ['-wal', '-shm']) rmSync(indexPath() + suffix, { force: true })
    damage()
    index = open()
    ingestAll()
    expect(index.status()).toMatchObject({ decisions: 60, upToDate: true })
    expect(existsSync(indexPath())).toBe(true)
  })
})
