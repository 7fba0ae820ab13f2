// The decision index that all nodes share: a search on any node finds the decisions of all nodes with their proofs.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashLine } from '../../src/decision-log/record.ts'
import { listSegments, listSlots } from '../../src/decision-log/segment-name.ts'
import { pieceObject } from '../../src/decision-log/shipped-lines.ts'
import type { DecisionRecord, LogRecord } from '../../src/decision-log/types.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createShipper } from '../../src/modules/log-shipping/ship.ts'
import { createFolderTarget } from '../../src/object-store/ship-folder.ts'
import type { ShipTarget } from '../../src/object-store/ship-target.ts'
import { readCatalog } from '../../src/store/copy/table-catalog.ts'
import type { Database } from '../../src/store/database.ts'
import { createSharedIndexReader } from '../../src/store/decision-index/shared-reader.ts'
import { prepareSharedIndex } from '../../src/store/decision-index/shared-tables.ts'
import { createSharedIndexWriter } from '../../src/store/decision-index/shared-writer.ts'
import { createSharedDecisionFinder } from '../../workers/index/shared-decision-finder.ts'
import { createSharedIndexBuilder } from '../../workers/index/shared-index-builder.ts'
import {
  attestation,
  denial,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  START_MS,
  temporaryDirectory,
  withheld,
} from '../decision-log/fixtures.ts'
import { type DatabasePlace, describeDatabases } from './dialects.ts'

const ORGANIZATION = attestation(0).organization
const PIECE_BYTES = 4_000
const ALL = { organizationId: ORGANIZATION }

interface Node {
  readonly name: string
  readonly directory: string
  readonly builder: ReturnType<typeof createSharedIndexBuilder>
  write(records: readonly LogRecord[]): void
  ingest(): Promise<void>
  ship(): Promise<void>
}

describeDatabases((dialect) => {
  let place: DatabasePlace
  let database: Database
  let shipped: ShipTarget
  const builders: Node['builder'][] = []

  const openBuilder = (directory: string, name: string): Node['builder'] => {
    const writer = createSharedIndexWriter(database, name)
    const builder = createSharedIndexBuilder({ directory, writer, monotonicMs: () => 0 })
    builders.push(builder)
    return builder
  }

  const createNode = (name: string, maxBytes = 1_000_000): Node => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory, { maxBytes })
    const builder = openBuilder(directory, name)
    const monotonicMs = () => 0
    const shipper = createShipper({
      directory,
      node: name,
      target: shipped,
      monotonicMs,
      pieceBytes: PIECE_BYTES,
      tailEveryMs: 1_000,
    })
    return {
      name,
      directory,
      builder,
      write: (records) => {
        for (const record of records) writer.append([record])
      },
      ingest: async () => {
        while (await builder.ingest());
      },
      ship: async () => {
        expect(await shipper.pass()).toMatchObject({ complete: true })
      },
    }
  }

  const finderOf = ({ name, directory }: Pick<Node, 'name' | 'directory'>, target: ShipTarget | null = shipped) =>
    createSharedDecisionFinder({
      directory,
      node: name,
      shipped: target,
      pieceBytes: PIECE_BYTES,
      reader: createSharedIndexReader(database),
    })

  beforeEach(async () => {
    place = await dialect.createPlace()
    database = await place.open({ clock: systemClock })
    await prepareSharedIndex(database)
    shipped = createFolderTarget(temporaryDirectory())
  })
  afterEach(async () => {
    for (const builder of builders.splice(0)) builder.close()
    await database.close()
    await place.remove()
    removeTemporaryDirectories()
  })

  test('finds the decisions of all nodes, newest first, in pages, with their log lines', async () => {
    const [here, there] = [createNode('here'), createNode('there', 6_000)]
    here.write(range(0, 10).map((n) => attestation(n * 2)))
    there.write(range(0, 10).map((n) => attestation(n * 2 + 1)))
    for (const node of [here, there]) await node.ingest()
    await there.ship()
    const finder = finderOf(here)
    const seen: DecisionRecord[] = []
    let after: { atMs: number; number: number } | null = null
    for (let pages = 0; pages < 10; pages++) {
      const found: Awaited<ReturnType<typeof finder.search>> = await finder.search(ALL, after, 7)
      expect(found.complete).toBe(true)
      seen.push(...found.decisions.map(({ record }) => record))
      after = found.next
      if (after === null) break
    }
    expect(seen).toEqual(
      range(0, 20)
        .reverse()
        .map((n) => attestation(n)),
    )
    expect(await finder.count(ALL)).toEqual({ count: 20, exact: true })
    expect(await here.builder.status()).toMatchObject({ decisions: 20, upToDate: true })
  })

  test('finds a decision of another node with its proof, in a closed or an open segment', async () => {
    const [here, there] = [createNode('here'), createNode('there', 6_000)]
    there.write(range(0, 18).map((n) => attestation(n)))
    await there.ingest()
    await there.ship()
    for (const number of [1, 12, 17]) {
      const uuid = attestation(number).uuid
      const found = await finderOf(here).find(ORGANIZATION, uuid)
      const own = await finderOf(there).find(ORGANIZATION, uuid)
      expect(found?.record).toEqual(attestation(number))
      expect(found?.proof).toEqual({ ...own!.proof, slot: 'there/w00' })
      expect(found?.proof.previousMatches).toBe(true)
    }
    expect(await finderOf(here).find('org_another', attestation(1).uuid)).toBeNull()
  })

  test('reports an incomplete result with the other decisions if a node has not shipped a line', async () => {
    const [here, there] = [createNode('here'), createNode('there')]
    here.write([attestation(1)])
    there.write([attestation(2)])
    for (const node of [here, there]) await node.ingest()
    for (const target of [shipped, null]) {
      const found = await finderOf(here, target).search(ALL, null, 10)
      expect([found.complete, found.missing]).toEqual([false, 1])
      expect(found.decisions.map(({ record }) => record)).toEqual([attestation(1)])
    }
    await there.ship()
    expect(await finderOf(here).search(ALL, null, 10)).toMatchObject({ complete: true, decisions: [{}, {}] })
  })

  test('a copy that was changed at the target is missing, even if its hash links match', async () => {
    const [here, there] = [createNode('here'), createNode('there')]
    there.write([1, 2, 3].map((n) => attestation(n)))
    await there.ingest()
    await there.ship()
    const [segment] = listSegments(join(there.directory, 'w00'))
    const name = segment?.name ?? ''
    const lines = readFileSync(join(there.directory, 'w00', name), 'utf8')
      .split('\n')
      .slice(0, -1)
    let prev = ''
    const forged = lines.map((line, index) => {
      const changed = index === 2 ? line.replace('dead"', 'beef"') : line
      const linked = index > 2 ? changed.replace(/^\{"prev":"[0-9a-f]{64}"/, `{"prev":"${prev}"`) : changed
      prev = hashLine(linked)
      return linked
    })
    expect(forged[2]).not.toBe(lines[2] ?? '')
    await shipped.put(pieceObject('there', 'w00', name, 0), new Blob([`${forged.join('\n')}\n`]))
    const finder = finderOf(here)
    const { decisions, complete } = await finder.search(ALL, null, 10)
    expect([decisions.map(({ record }) => record), complete]).toEqual([[attestation(1)], false])
    expect(await finder.find(ORGANIZATION, attestation(2).uuid)).toBeNull()
    expect((await finder.find(ORGANIZATION, attestation(1).uuid))?.record).toEqual(attestation(1))
    // The node itself returns its own log line.
    writeFileSync(join(there.directory, 'w00', name), `${[...forged.slice(0, 3), ...lines.slice(3)].join('\n')}\n`)
    const own = await finderOf(there).find(ORGANIZATION, attestation(2).uuid)
    expect(own).toMatchObject({ line: forged[2], proof: { nextMatches: false } })
  })

  test('applies each part of the filter within the organization', async () => {
    const node = createNode('here')
    const shadow = { revision: 'revision_2', compliant: false, rule: 'deny', code: null }
    node.write([
      attestation(0),
      denial(1),
      attestation(2, { from: '0x2222222222222222222222222222222222222222' }),
      attestation(3, { project: 'project_b', chain: 'base' }),
      attestation(4, { rule: null, policy: 'policy_b' }),
      attestation(5, { organization: 'org_b' }),
      attestation(6, { shadow } as Partial<DecisionRecord>),
      withheld(0),
    ])
    await node.ingest()
    const finder = finderOf(node)
    const find = async (filter: object): Promise<number[]> =>
      (await finder.search({ ...ALL, ...filter }, null, 20)).decisions.map(({ record }) => record.at - START_MS)
    expect(await find({})).toEqual([6, 4, 3, 2, 1, 0])
    for (const [filter, ...expected] of [
      [{ verdict: 'denied' }, 1],
      [{ verdict: 'compliant', wallet: '0x2222222222222222222222222222222222222222' }, 2],
      [{ projectId: 'project_b' }, 3],
      [{ chain: 'base' }, 3],
      [{ policyId: 'policy_b' }, 4],
      [{ rule: null }, 4],
      [{ rule: 'deny-some' }, 1],
      [{ sinceMs: START_MS + 2, untilMs: START_MS + 4 }, 3, 2],
      [{ shadow: { revisionId: 'revision_2', outcome: 'different' } }, 6],
      [{ wallet: 'unknown' }],
    ] as const) {
      expect(await find(filter)).toEqual(expected)
    }
    const [oldest] = (await finder.search({ ...ALL, untilMs: START_MS + 1 }, null, 1)).decisions
    expect(oldest?.withheld).toBe(true)
  })

  test('continues after a restart, ingests no decision twice, and can be rebuilt', async () => {
    const node = createNode('here')
    const other = createNode('there')
    node.write([attestation(1), attestation(2)])
    other.write([attestation(9)])
    await other.ingest()
    await node.ingest()
    node.write([attestation(3)])
    const restarted = openBuilder(node.directory, 'here')
    while (await restarted.ingest());
    expect((await restarted.status()).decisions).toBe(4)
    // After the loss of the positions of a batch, its rows exist already.
    await database.execute("DELETE FROM decision_index_positions WHERE node = 'here'")
    const again = openBuilder(node.directory, 'here')
    while (await again.ingest());
    expect((await again.status()).decisions).toBe(4)
    // Each decision is counted once.
    const reader = createSharedIndexReader(database)
    const question = { organizationId: ORGANIZATION, sinceMs: 0, untilMs: START_MS + 1e9 }
    const tallied = async () =>
      (await reader.tally({ ...question, by: 'time' })).reduce((sum, { compliant }) => sum + compliant, 0)
    expect(await tallied()).toBe(4)
    await again.rebuild()
    expect((await again.status()).decisions).toBe(1)
    expect(await tallied()).toBe(1)
    while (await again.ingest());
    expect(await tallied()).toBe(4)
    const [source] = await reader.tally({ ...question, organizationId: null, by: 'source' })
    expect(source).toMatchObject({ organizationId: ORGANIZATION, keyId: attestation(1).key, compliant: 4, denied: 0 })
    expect(await finderOf(node).count(ALL)).toEqual({ count: 4, exact: true })
  })

  test('does not count a line that a crash truncated', async () => {
    const node = createNode('here')
    node.write([attestation(1), attestation(2)])
    await node.ingest()
    const [slot = ''] = listSlots(node.directory)
    const [segment] = listSegments(join(node.directory, slot))
    const path = join(node.directory, slot, segment?.name ?? '')
    const whole = readFileSync(path)
    truncateSync(path, whole.lastIndexOf(10, whole.length - 2) + 1)
    openTestSegment(node.directory, { maxBytes: 1_000_000 }).append([attestation(3)])
    await node.ingest()
    const question = { organizationId: ORGANIZATION, by: 'source', sinceMs: 0, untilMs: START_MS + 1e9 } as const
    expect(await createSharedIndexReader(database).tally(question)).toMatchObject([{ compliant: 2, denied: 0 }])
    expect((await node.builder.status()).decisions).toBe(2)
  })

  test('is created once by several nodes, recreated for another version, and never copied', async () => {
    const second = await place.open({ clock: systemClock })
    await Promise.all([prepareSharedIndex(database), prepareSharedIndex(second)])
    const node = createNode('here')
    node.write([attestation(1)])
    await node.ingest()
    await prepareSharedIndex(second)
    expect((await node.builder.status()).decisions).toBe(1)
    await second.execute("UPDATE decision_index_meta SET value = '0'")
    await prepareSharedIndex(database)
    expect((await node.builder.status()).decisions).toBe(0)
    expect(await readCatalog(second, second.dialect ?? 'sqlite')).toEqual([])
    await second.close()
  })
})
