// `decisions verify` against the tree: everything that a hash chain can't show is found, named, and ends with 1.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeNameOf } from '../../src/decision-log/node-name.ts'
import { hashLine } from '../../src/decision-log/record.ts'
import { createShipper } from '../../src/modules/log-shipping/ship.ts'
import type { TreeAccess } from '../../src/modules/transparency/service/tree-access.ts'
import { openDecisionTreeReader } from '../../src/modules/transparency/store/open.ts'
import { readHeadFile, readShippedHead } from '../../src/modules/transparency/verify/tree-heads.ts'
import {
  attestation,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  segmentNames,
  temporaryDirectory,
} from '../decision-log/fixtures.ts'
import { runDecisions } from '../decision-log/run-decisions.ts'
import { createTestMaker, placesIn, TEST_NODE, TEST_SALT_KEY, TEST_SIGNER } from './tree-fixtures.ts'

let root = ''
let stored: string | null = null
let isSingleNode = true
const log = (...path: string[]): string => join(placesIn(root).directory, ...path)

const append = (first: number, count: number, slot = 'w00'): void => {
  const writer = openTestSegment(log(), { slot, maxBytes: 5_000 })
  for (const number of range(first, first + count)) writer.append([attestation(number)])
  writer.close()
}

const makeHead = async (): Promise<string> => {
  const { maker, tree } = await createTestMaker(root)
  const head = await maker.pass(true)
  await tree.close()
  stored = head?.checkpoint ?? null
  return stored ?? ''
}

const openTree = async (): Promise<TreeAccess> => {
  const { treeFile, headFile } = placesIn(root)
  const { tree: made, shipped } = await createTestMaker(root)
  await made.close()
  const heads = [
    { where: 'the head file', checkpoint: await readHeadFile(headFile) },
    { where: 'the head in the store', checkpoint: stored },
    { where: 'the shipped head', checkpoint: await readShippedHead(shipped, TEST_SIGNER.key.name) },
  ].flatMap(({ where, checkpoint }) => (checkpoint === null ? [] : [{ where, checkpoint }]))
  const tree = await openDecisionTreeReader({ kind: 'sqlite', path: treeFile })
  return {
    key: TEST_SIGNER.key,
    saltKey: TEST_SALT_KEY,
    tree,
    heads,
    auditProblems: [],
    warnings: [],
    isSingleNode,
    close: async () => {
      await tree?.close()
    },
  }
}

const verify = async (...more: string[]): Promise<{ code: number; out: string }> => {
  const { shipped } = await createTestMaker(root)
  const io = { dataDirectory: root, openTree, openTarget: () => shipped }
  const { code, out, err } = await runDecisions(['verify', ...more], io)
  return { code, out: out + err }
}

/** Changes a line and computes the chain anew over all that follows in its slot, headers included. */
const forge = (slot: string, line: number, change: (line: string) => string): void => {
  let previous: { name: string; hash: string; length: number } | null = null
  for (const [index, name] of segmentNames(log(), slot).entries()) {
    const lines = readFileSync(log(slot, name), 'utf8').split('\n').slice(0, -1)
    let hash = ''
    const forged = lines.map((text, number) => {
      let changed = index === 0 && number === line ? change(text) : text
      if (number > 0) changed = changed.replace(/^\{"prev":"[0-9a-f]{64}"/, `{"prev":"${hash}"`)
      else if (previous !== null) {
        const header = JSON.parse(text) as Record<string, unknown>
        changed = JSON.stringify({ ...header, previous_hash: previous.hash, previous_length: previous.length })
      }
      hash = hashLine(changed)
      return changed
    })
    const text = `${forged.join('\n')}\n`
    writeFileSync(log(slot, name), text)
    previous = { name, hash, length: Buffer.byteLength(text) }
  }
}

beforeEach(async () => {
  root = temporaryDirectory()
  mkdirSync(log(), { recursive: true })
  writeFileSync(log('node-name'), `${TEST_NODE}\n`)
  append(0, 20)
  append(100, 12, 'w01')
  await makeHead()
})
afterEach(removeTemporaryDirectories)

const changeTables = (...statements: readonly string[]): void => {
  const file = new Database(placesIn(root).treeFile)
  for (const sql of statements) file.run(sql)
  file.close()
}

test('lines that were handed in and wait for the next head are newer, whatever segment follows', async () => {
  const writer = openTestSegment(log(), { slot: 'w02', maxBytes: 100_000 })
  writer.append([attestation(200)])
  await makeHead()
  writer.append([attestation(201), attestation(202)])
  writer.close()
  append(203, 1, 'w02')
  const { maker, tree } = await createTestMaker(root)
  await maker.pass(false)
  await tree.close()
  expect(await verify()).toMatchObject({ code: 0, out: expect.stringMatching(/, 4 newer than its head: ok\n$/) })
})

test('a sound log: 0, every line compared, and newer ones counted', async () => {
  const sound = await verify()
  expect(sound.code).toBe(0)
  expect(sound.out).toMatch(/tree: (\d+) of \1 lines compared: ok\n$/)
  append(20, 3)
  const grown = await verify()
  // The header of the new segment, or segments, as well.
  expect(grown.out).toMatch(/, [4-7] newer than its head: ok\n$/)
  expect(grown.code).toBe(0)
  await makeHead()
  expect((await verify()).out).toMatch(/tree: (\d+) of \1 lines compared: ok\n$/)
})

describe('found', () => {
  const expectProblem = async (pattern: RegExp, ...more: string[]): Promise<void> => {
    const { code, out } = await verify(...more)
    expect(out).toMatch(pattern)
    expect(code).toBe(1)
  }

  test('a line that was changed, with the chain computed anew', async () => {
    forge('w00', 2, (line) => line.replace('"Demo policy"', '"Dema policy"'))
    expect((await verify('--chains')).code).toBe(0)
    await expectProblem(/tree PROBLEM: "w00\/\S+\.ndjson: line 3 differs from the line in the tree"/)
  })

  test('a worker’s folder that was removed', async () => {
    rmSync(log('w01'), { recursive: true })
    expect((await verify('--chains')).code).toBe(0)
    await expectProblem(/tree PROBLEM: "w01\/\S+: the file is missing, with \d+ lines/)
  })

  test('a file that was removed from the beginning, unless it is said to be archived', async () => {
    rmSync(log('w00', segmentNames(log())[0] ?? ''))
    expect((await verify('--chains')).code).toBe(0)
    await expectProblem(/tree PROBLEM: "w00\/\S+: the file is missing/)
    await expectProblem(/the file is missing/, '--archived-before', '2026-01-01')
    const archived = await verify('--archived-before', '2027-01-01')
    expect([archived.code, archived.out]).toEqual([0, expect.stringContaining('elsewhere: ok')])
  })

  test('a tail that was cut off', async () => {
    const newest = log('w01', segmentNames(log(), 'w01').at(-1) ?? '')
    const lines = readFileSync(newest, 'utf8').split('\n').slice(0, -1)
    writeFileSync(newest, `${lines.slice(0, -1).join('\n')}\n`)
    expect((await verify('--chains')).code).toBe(0)
    await expectProblem(/tree PROBLEM: "w01\/\S+: 1 lines of the tree are missing at its end"/)
  })

  test('all of it removed', async () => {
    rmSync(log(), { recursive: true })
    mkdirSync(log())
    expect((await verify('--chains')).code).toBe(0)
    await expectProblem(/tree PROBLEM: "w00\/\S+: the file is missing/)
  })

  test('an older backup of log and tree, by each place that a newer head was kept in', async () => {
    const old = temporaryDirectory()
    cpSync(root, old, { recursive: true })
    append(20, 4)
    const newest = await makeHead()
    const restore = (): void => {
      for (const name of ['decisions', 'decision-tree.db', 'decision-tree.db-wal', 'decision-tree.db-shm']) {
        rmSync(join(root, name), { recursive: true, force: true })
      }
      cpSync(join(old, 'decisions'), log(), { recursive: true })
      cpSync(join(old, 'decision-tree.db'), join(root, 'decision-tree.db'))
    }
    restore()
    expect((await verify('--chains')).code).toBe(0)
    await expectProblem(/tree PROBLEM: "the head file: the head has \d+ leaves, but the tree has only \d+/)
    rmSync(placesIn(root).headFile)
    await expectProblem(/tree PROBLEM: "the head in the store: the head has/)
    stored = null
    await expectProblem(/tree PROBLEM: "the shipped head: the head has/)
    rmSync(placesIn(root).shipped, { recursive: true })
    expect((await verify()).code).toBe(0)
    const kept = join(temporaryDirectory(), 'kept')
    writeFileSync(kept, newest)
    await expectProblem(/kept: the head has \d+ leaves, but the tree has only \d+/, '--checkpoint', kept)
  })

  test('a log and a tree that were made anew, by a head that somebody kept', async () => {
    const kept = join(temporaryDirectory(), 'kept')
    writeFileSync(kept, (await openTree()).heads[0]?.checkpoint ?? '')
    expect((await verify('--checkpoint', kept)).code).toBe(0)
    for (const name of [
      'decision-tree.db',
      'decision-tree.db-wal',
      'decision-tree.db-shm',
      'decision-tree.checkpoint',
      'shipped',
    ]) {
      rmSync(join(root, name), { recursive: true, force: true })
    }
    forge('w00', 2, (line) => line.replace('"Demo policy"', '"Dema policy"'))
    append(20, 5)
    await makeHead()
    expect((await verify()).code).toBe(0)
    await expectProblem(/kept: the tree does not extend the head of \d+ leaves: it was rewritten/, '--checkpoint', kept)
    writeFileSync(kept, 'no checkpoint\n')
    await expectProblem(/kept: the text is not a signed note/, '--checkpoint', kept)
  })

  test('a file that was put in later, and lines that were added to a closed one', async () => {
    const [first = '', second = ''] = segmentNames(log())
    writeFileSync(log('w00', first.replace('-000001', '-000000')), readFileSync(log('w00', first)))
    await expectProblem(/tree PROBLEM: "w00\/\S+-000000\.ndjson: the tree does not contain it"/)
    rmSync(log('w00', first.replace('-000001', '-000000')))
    const lines = readFileSync(log('w00', second), 'utf8')
    writeFileSync(log('w00', second), `${lines}${lines.split('\n').at(-2)}\n`)
    await expectProblem(/./)
  })

  test('hashes that were changed or removed in the tables of the tree', async () => {
    changeTables('UPDATE decision_tree_tiles SET hashes = zeroblob(length(hashes)) WHERE level = 0')
    await expectProblem(/the tree’s leaves do not match its root/)
    changeTables('DELETE FROM decision_tree_tiles')
    await expectProblem(/hashes are missing from the tables of the tree/)
  })
})

describe('rows that map lines to leaves, which no head signs', () => {
  const expectProblem = async (pattern: RegExp): Promise<void> => {
    const { code, out } = await verify()
    expect([code, out]).toEqual([1, expect.stringMatching(pattern)])
  }
  const newestOf = (slot: string): string => segmentNames(log(), slot).at(-1) ?? ''
  const cutLines = (slot: string, name: string, count: number): number => {
    const kept = readFileSync(log(slot, name), 'utf8')
      .split('\n')
      .slice(0, -1 - count)
    const text = `${kept.join('\n')}\n`
    writeFileSync(log(slot, name), text)
    return Buffer.byteLength(text)
  }

  test('removed with all files, or with the files of a worker', async () => {
    rmSync(log('w01'), { recursive: true })
    const ofWorker = "segment_id IN (SELECT id FROM decision_tree_segments WHERE slot = 'w01')"
    changeTables(`DELETE FROM decision_tree_spans WHERE ${ofWorker}`)
    await expectProblem(/tree PROBLEM: "leaves \d+ to \d+ of the tree belong to no line: rows were removed/)
    rmSync(log('w00'), { recursive: true })
    changeTables('DELETE FROM decision_tree_spans', 'DELETE FROM decision_tree_segments')
    await expectProblem(/tree PROBLEM: "leaves 0 to \d+ of the tree belong to no line/)
  })

  test('shortened with the lines at the end of the log', async () => {
    const bytes = cutLines('w01', newestOf('w01'), 1)
    changeTables(
      `UPDATE decision_tree_spans SET leaves = leaves - 1, end_byte = ${bytes} WHERE end_byte =
       (SELECT taken_bytes FROM decision_tree_segments WHERE segment = '${newestOf('w01')}')`,
    )
    await expectProblem(/leaves \d+ to \d+ of the tree belong to no line/)
  })

  test('added, so that a negative number balances the missing lines', async () => {
    cutLines('w01', newestOf('w01'), 1)
    changeTables(
      `INSERT INTO decision_tree_spans SELECT id, 999999, 999999, 0, -1 FROM decision_tree_segments
       WHERE segment = '${newestOf('w01')}'`,
    )
    await expectProblem(/an invalid range of leaves/)
  })

  test('repeated for a second file', async () => {
    changeTables(
      'UPDATE decision_tree_spans SET first_leaf = 0 WHERE first_leaf = (SELECT MAX(first_leaf) FROM decision_tree_spans)',
    )
    await expectProblem(/of the tree belong/)
  })

  test('added for a forged next file, which would excuse the missing lines as a failed write', async () => {
    const last = newestOf('w01')
    const bytes = cutLines('w01', last, 1)
    const lines = readFileSync(log('w01', last), 'utf8').split('\n').slice(0, -1)
    const header = {
      ...JSON.parse(lines[0] ?? ''),
      previous_segment: last,
      previous_hash: hashLine(lines.at(-1) ?? ''),
    }
    const next = last.replace(/-(\d{6})\./, (_, number) => `-${String(Number(number) + 1).padStart(6, '0')}.`)
    writeFileSync(log('w01', next), `${JSON.stringify({ ...header, previous_length: bytes })}\n`)
    changeTables(
      `INSERT INTO decision_tree_segments (id, node, slot, segment, taken_bytes) VALUES (1, '${TEST_NODE}', 'w01', '${next}', 0)`,
    )
    await expectProblem(/1 lines of the tree are missing at its end"/)
  })

  test('that point to a genuine log elsewhere', async () => {
    cpSync(log('w01'), join(root, 'hidden'), { recursive: true })
    rmSync(log('w01'), { recursive: true })
    changeTables("UPDATE decision_tree_segments SET slot = '../hidden' WHERE slot = 'w01'")
    await expectProblem(/hidden\/\S+: the file is missing/)
  })
})

describe('the node of a log', () => {
  afterEach(() => {
    isSingleNode = true
  })

  test('is not taken from the log, if the store has one node', async () => {
    writeFileSync(log('node-name'), 'elsewhere-1\n')
    expect((await verify()).out).toMatch(/tree: (\d+) of \1 lines compared: ok\n$/)
    forge('w00', 2, (line) => line.replace('"Demo policy"', '"Dema policy"'))
    expect(await verify()).toMatchObject({ code: 1, out: expect.stringContaining('line 3 differs') })
    rmSync(log('node-name'))
    expect(await verify()).toMatchObject({ code: 1, out: expect.stringContaining('line 3 differs') })
  })

  test('must have lines in a tree of several nodes, and nodes without a log here are named', async () => {
    isSingleNode = false
    changeTables("UPDATE decision_tree_segments SET node = 'web-2' WHERE slot = 'w01'")
    rmSync(log('w01'), { recursive: true })
    const sound = await verify()
    expect([sound.code, sound.out]).toEqual([
      0,
      expect.stringMatching(/tree warning: "node web-2: (\d+) lines were not compared.*, \1 elsewhere: ok\n$/s),
    ])
    writeFileSync(log('node-name'), 'elsewhere-1\n')
    const renamed = await verify()
    expect([renamed.code, renamed.out]).toEqual([
      1,
      expect.stringMatching(/PROBLEM: "the tree contains no lines of this node \(elsewhere-1\)/),
    ])
    rmSync(log('node-name'))
    expect((await verify()).code).toBe(1)
  })
})

describe('shipped copies', () => {
  const ship = async (): Promise<void> => {
    const { shipped, tree } = await createTestMaker(root)
    await tree.close()
    const shipper = createShipper({
      directory: log(),
      node: nodeNameOf(log()),
      target: shipped,
      tailEveryMs: 1_000,
      monotonicMs: () => performance.now(),
    })
    expect((await shipper.pass()).failure).toBeNull()
  }

  test('are compared with the tree; what was not copied yet is a warning', async () => {
    await ship()
    const sound = await verify('--from', 'shipped')
    expect([sound.code, sound.out]).toEqual([0, expect.stringMatching(/tree: (\d+) of \1 lines compared: ok\n$/)])
  })

  test('a node or a closed file that is gone there is found', async () => {
    await ship()
    rmSync(join(placesIn(root).shipped, TEST_NODE, 'w01'), { recursive: true })
    const gone = await verify('--from', 'shipped')
    expect([gone.code, gone.out]).toEqual([1, expect.stringMatching(/tree PROBLEM: "w01\/\S+: the file is missing/)])
    rmSync(join(placesIn(root).shipped, TEST_NODE), { recursive: true })
    const all = await verify('--from', 'shipped')
    expect([all.code, all.out]).toEqual([1, expect.stringContaining(`node ${TEST_NODE}: all its files are missing`)])
  })
})

test('prove names damaged lines where a decision is not found, since one of them may be it', async () => {
  const [name = ''] = segmentNames(log(), 'w00')
  const text = readFileSync(log('w00', name), 'utf8')
  const lines = text.split('\n')
  const { uuid } = JSON.parse(lines[3] ?? '') as { uuid: string }
  const prove = async (): Promise<readonly [number, string]> => {
    const { code, out, err } = await runDecisions(['prove', uuid], { dataDirectory: root, openTree })
    return [code, out + err]
  }
  expect((await prove())[0]).toBe(0)
  lines[3] = (lines[3] ?? '').replace('"prev":"', '"prev":"0')
  writeFileSync(log('w00', name), lines.join('\n'))
  const at = Buffer.byteLength(`${lines.slice(0, 3).join('\n')}\n`)
  expect(await prove()).toEqual([1, expect.stringContaining(`unreadable lines: w00/${name} at byte ${at}. Run`)])
})
