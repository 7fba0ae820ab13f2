// `decisions verify` with the tree, which detects changes that a hash chain cannot show.
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
  manualClock,
  openTestSegment,
  readLines,
  removeTemporaryDirectories,
  segmentNames,
  temporaryDirectory,
} from '../decision-log/fixtures.ts'
import { runDecisions } from '../decision-log/run-decisions.ts'
import { appendTo, createTestMaker, placesIn, TEST_NODE, TEST_SALT_KEY, TEST_SIGNER } from './tree-fixtures.ts'

let root = ''
let stored: string | null = null
let isSingleNode = true
const log = (...path: string[]): string => join(placesIn(root).directory, ...path)

const append = (first: number, count: number, slot = 'w00'): void => appendTo(root, first, count, slot, 5_000)

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
    { where: 'the shipped head', checkpoint: await readShippedHead(shipped, TEST_SIGNER.key) },
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

/** Changes a line, and recalculates the chain of its slot from there, including headers. */
const forge = (slot: string, line: number, change: (line: string) => string): void => {
  let previous: { name: string; hash: string; length: number } | null = null
  for (const [index, name] of segmentNames(log(), slot).entries()) {
    const lines = readLines(log(slot, name))
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

const newestOf = (slot: string): string => segmentNames(log(), slot).at(-1) ?? ''
/** Removes lines at the end of a file. Returns its new size. */
const cutLines = (slot: string, name: string, count: number): number => {
  const text = readLines(log(slot, name))
    .slice(0, -count)
    .map((line) => `${line}\n`)
    .join('')
  writeFileSync(log(slot, name), text)
  return Buffer.byteLength(text)
}

const TREE_FILES = ['', '-wal', '-shm'].map((suffix) => `decision-tree.db${suffix}`)
const removeFiles = (...names: readonly string[]): void => {
  for (const name of names) rmSync(join(root, name), { recursive: true, force: true })
}

const changeTables = (...statements: readonly string[]): void => {
  const file = new Database(placesIn(root).treeFile)
  for (const sql of statements) file.run(sql)
  file.close()
}

test('submitted lines that wait for the next head count as newer, regardless of the next segment', async () => {
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

test('all files of a worker that ended before the first later file may be archived', async () => {
  rmSync(log('w01'), { recursive: true })
  const writer = openTestSegment(log(), { maxBytes: 1_000, clock: manualClock(Date.UTC(2027, 0, 1)) })
  for (const number of [20, 21]) writer.append([attestation(number)])
  writer.close()
  await makeHead()
  expect(await verify('--archived-before', '2026-12-01')).toMatchObject({
    code: 0,
    out: expect.stringContaining('elsewhere: ok'),
  })
})

test('a file whose lines are in several parts of the tree is compared to its end', async () => {
  const writer = openTestSegment(log(), { slot: 'w02', maxBytes: 100_000 })
  for (const first of [200, 300]) {
    writer.append([attestation(first), attestation(first + 1)])
    append(first + 2, 1)
    await makeHead()
  }
  writer.close()
  expect((await verify()).out).toMatch(/tree: (\d+) of \1 lines compared: ok\n$/)
})

test('a valid log returns 0, with the numbers of compared lines and newer lines', async () => {
  const sound = await verify()
  expect(sound.code).toBe(0)
  expect(sound.out).toMatch(/tree: (\d+) of \1 lines compared: ok\n$/)
  append(20, 3)
  const grown = await verify()
  // Includes the headers of new segments.
  expect(grown.out).toMatch(/, [4-7] newer than its head: ok\n$/)
  expect(grown.code).toBe(0)
  await makeHead()
  expect((await verify()).out).toMatch(/tree: (\d+) of \1 lines compared: ok\n$/)
})

/** Checks that only the tree shows the change. */
const expectSoundChains = async (): Promise<void> => expect((await verify('--chains')).code).toBe(0)

const expectProblem = async (pattern: RegExp, ...more: string[]): Promise<void> => {
  const { code, out } = await verify(...more)
  expect([code, out]).toEqual([1, expect.stringMatching(pattern)])
}

describe('verification detects', () => {
  test('a changed line with a recalculated chain', async () => {
    forge('w00', 2, (line) => line.replace('"Demo policy"', '"Dema policy"'))
    await expectSoundChains()
    await expectProblem(/tree PROBLEM: "w00\/\S+\.ndjson: line 3 differs from the line in the tree"/)
  })

  test('a removed folder of a worker, and a removed log', async () => {
    rmSync(log('w01'), { recursive: true })
    await expectSoundChains()
    await expectProblem(/tree PROBLEM: "w01\/\S+: the file is missing, with \d+ lines/)
    rmSync(log(), { recursive: true })
    mkdirSync(log())
    await expectSoundChains()
    await expectProblem(/tree PROBLEM: "w00\/\S+: the file is missing/)
  })

  test('a removed first file, unless it is archived', async () => {
    rmSync(log('w00', segmentNames(log())[0] ?? ''))
    await expectSoundChains()
    await expectProblem(/tree PROBLEM: "w00\/\S+: the file is missing/)
    await expectProblem(/the file is missing/, '--archived-before', '2026-01-01')
    const archived = await verify('--archived-before', '2027-01-01')
    expect([archived.code, archived.out]).toEqual([0, expect.stringContaining('elsewhere: ok')])
  })

  /** Gives rows names of 2019, as an attacker can. */
  const dateBack = (...places: readonly (readonly [slot: string, name: string])[]): void =>
    changeTables(
      ...places.map(
        ([slot, name]) =>
          `UPDATE decision_tree_segments SET segment = '20190101T000000.000Z${name.slice(20)}' WHERE slot = '${slot}' AND segment = '${name}'`,
      ),
    )

  test('a removed file that the tables date back, by the next file’s header', async () => {
    const [first = ''] = segmentNames(log())
    rmSync(log('w00', first))
    dateBack(['w00', first])
    await expectProblem(/tree PROBLEM: "w00\/2019\S+: the file is missing/, '--archived-before', '2020-01-01')
  })

  test('a worker’s removed folder that the tables date back, by the headers of other workers', async () => {
    const names = segmentNames(log(), 'w01')
    rmSync(log('w01'), { recursive: true })
    dateBack(...names.map((name) => ['w01', name] as const))
    await expectProblem(/tree PROBLEM: "w01\/2019\S+: the file is missing/, '--archived-before', '2020-01-01')
    await expectProblem(/tree PROBLEM: "w01\/2019\S+: the file is missing/, '--archived-before', '2099-01-01')
  })

  test('a truncated log', async () => {
    cutLines('w01', newestOf('w01'), 1)
    await expectSoundChains()
    await expectProblem(/tree PROBLEM: "w01\/\S+: 1 lines of the tree are missing at its end"/)
  })

  test('an older backup of the log and the tree, with a newer head from each place', async () => {
    const old = temporaryDirectory()
    cpSync(root, old, { recursive: true })
    append(20, 4)
    const newest = await makeHead()
    removeFiles('decisions', ...TREE_FILES)
    cpSync(join(old, 'decisions'), log(), { recursive: true })
    cpSync(join(old, 'decision-tree.db'), join(root, 'decision-tree.db'))
    await expectSoundChains()
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

  test('a recreated log and tree, with an earlier head', async () => {
    const kept = join(temporaryDirectory(), 'kept')
    writeFileSync(kept, (await openTree()).heads[0]?.checkpoint ?? '')
    expect((await verify('--checkpoint', kept)).code).toBe(0)
    removeFiles(...TREE_FILES, 'decision-tree.checkpoint', 'shipped')
    forge('w00', 2, (line) => line.replace('"Demo policy"', '"Dema policy"'))
    append(20, 5)
    await makeHead()
    expect((await verify()).code).toBe(0)
    await expectProblem(/kept: the tree does not extend the head of \d+ leaves: it was rewritten/, '--checkpoint', kept)
    writeFileSync(kept, 'no checkpoint\n')
    await expectProblem(/kept: the text is not a signed note/, '--checkpoint', kept)
  })

  test('an added file, and lines that were added to a closed file', async () => {
    const [first = '', second = ''] = segmentNames(log())
    writeFileSync(log('w00', first.replace('-000001', '-000000')), readFileSync(log('w00', first)))
    await expectProblem(/tree PROBLEM: "w00\/\S+-000000\.ndjson: the tree does not contain it"/)
    rmSync(log('w00', first.replace('-000001', '-000000')))
    const lines = readFileSync(log('w00', second), 'utf8')
    writeFileSync(log('w00', second), `${lines}${lines.split('\n').at(-2)}\n`)
    await expectProblem(/./)
  })

  test('changed or removed hashes in the tables of the tree', async () => {
    changeTables('UPDATE decision_tree_tiles SET hashes = zeroblob(length(hashes)) WHERE level = 0')
    await expectProblem(/the tree’s leaves do not match its root/)
    changeTables('DELETE FROM decision_tree_tiles')
    await expectProblem(/hashes are missing from the tables of the tree/)
  })
})

describe('verification detects rows that map lines to leaves (which no head signs), if they were', () => {
  test('removed with the files of a worker, or with all files', async () => {
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

  test('added with a negative number of leaves that hides missing lines', async () => {
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

  test('added for a forged next file that declares the missing lines a failed write', async () => {
    const last = newestOf('w01')
    const bytes = cutLines('w01', last, 1)
    const lines = readLines(log('w01', last))
    const link = { previous_segment: last, previous_hash: hashLine(lines.at(-1) ?? ''), previous_length: bytes }
    const header = { ...JSON.parse(lines[0] ?? ''), ...link }
    const next = last.replace(/-(\d{6})\./, (_, number) => `-${String(Number(number) + 1).padStart(6, '0')}.`)
    writeFileSync(log('w01', next), `${JSON.stringify(header)}\n`)
    changeTables(
      `INSERT INTO decision_tree_segments (id, node, slot, segment, taken_bytes) VALUES (1, '${TEST_NODE}', 'w01', '${next}', 0)`,
    )
    await expectProblem(/1 lines of the tree are missing at its end"/)
  })

  test('changed to another folder with the genuine log', async () => {
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

  test('does not depend on the log if the store has one node', async () => {
    writeFileSync(log('node-name'), 'elsewhere-1\n')
    expect((await verify()).out).toMatch(/tree: (\d+) of \1 lines compared: ok\n$/)
    forge('w00', 2, (line) => line.replace('"Demo policy"', '"Dema policy"'))
    expect(await verify()).toMatchObject({ code: 1, out: expect.stringContaining('line 3 differs') })
    rmSync(log('node-name'))
    expect(await verify()).toMatchObject({ code: 1, out: expect.stringContaining('line 3 differs') })
  })

  test('must have lines in a tree of several nodes; a warning names nodes whose log is elsewhere', async () => {
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

  test('are compared with the tree', async () => {
    await ship()
    const sound = await verify('--from', 'shipped')
    expect([sound.code, sound.out]).toEqual([0, expect.stringMatching(/tree: (\d+) of \1 lines compared: ok\n$/)])
  })

  test('may lack only the newest file of a slot, which contains no decision yet', async () => {
    await ship()
    for (const slot of ['w00', 'w07']) openTestSegment(log(), { slot }).close()
    await makeHead()
    await ship()
    const sound = await verify('--from', 'shipped')
    expect([sound.code, sound.out.match(/the file is missing, with 1 lines .*: not copied yet, or removed/g)]).toEqual([
      0,
      [expect.any(String), expect.any(String)],
    ])
    rmSync(join(placesIn(root).shipped, TEST_NODE, 'w00'), { recursive: true })
    mkdirSync(join(placesIn(root).shipped, TEST_NODE, 'w00'))
    expect((await verify('--from', 'shipped')).code).toBe(1)
  })

  test('that lack a closed file or a node cause a problem', async () => {
    await ship()
    rmSync(join(placesIn(root).shipped, TEST_NODE, 'w01'), { recursive: true })
    const gone = await verify('--from', 'shipped')
    expect([gone.code, gone.out]).toEqual([1, expect.stringMatching(/tree PROBLEM: "w01\/\S+: the file is missing/)])
    rmSync(join(placesIn(root).shipped, TEST_NODE), { recursive: true })
    const all = await verify('--from', 'shipped')
    expect([all.code, all.out]).toEqual([1, expect.stringContaining(`node ${TEST_NODE}: all its files are missing`)])
  })
})

test('prove lists damaged lines if it cannot find a decision', async () => {
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
