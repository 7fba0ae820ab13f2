// Heads of the tree: they cover the whole log, have one root per size even after crashes, and never cover an older tree.
import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type DecisionTree, openDecisionTree } from '../../src/modules/transparency/store/open.ts'
import { openCheckpoint, signCheckpoint } from '../../src/modules/transparency/tree/checkpoint.ts'
import { leafHashOf } from '../../src/modules/transparency/tree/hash.ts'
import { verifierKeyOf } from '../../src/modules/transparency/tree/note.ts'
import {
  headProblem,
  readHeadFile,
  readShippedHead,
  shipHead,
  TreeRolledBackError,
} from '../../src/modules/transparency/verify/tree-heads.ts'
import { createFolderTarget } from '../../src/object-store/ship-folder.ts'
import { createEd25519Signer } from '../../src/signing/ed25519.ts'
import { readLines, removeTemporaryDirectories, segmentNames, temporaryDirectory } from '../decision-log/fixtures.ts'
import { naiveRoot } from './naive-tree.ts'
import { appendTo, createTestMaker, placesIn, TEST_SALT_KEY, TEST_SIGNER } from './tree-fixtures.ts'

afterEach(removeTemporaryDirectories)

const { key } = TEST_SIGNER
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Returns the root of the spans in the tables and the lines in the files, calculated independently. */
const expectedRoot = async (root: string): Promise<string> => {
  const { tree, directory } = await createTestMaker(root)
  const leaves: Buffer[] = []
  for (const place of await tree.reader.segments()) {
    const bytes = readFileSync(join(directory, place.slot, place.segment))
    for (const { startByte, endByte, firstLeaf } of await tree.reader.spans(place)) {
      const lines = bytes.subarray(startByte, endByte).toString('utf8').split('\n').slice(0, -1)
      for (const [index, line] of lines.entries()) {
        leaves[firstLeaf + index] = leafHashOf(createHash('sha256').update(line).digest(), TEST_SALT_KEY)
      }
    }
  }
  await tree.close()
  return hex(naiveRoot(leaves))
}

describe('a pass', () => {
  test('signs heads while the shipping target is unavailable, and ships them when the target is available', async () => {
    const root = temporaryDirectory()
    appendTo(root, 0, 10)
    const folder = createFolderTarget(placesIn(root).shipped)
    let nowMs = 0
    let puts = 0
    let isAway = true
    const target = {
      ...folder,
      put: async (name: string, content: Blob) => {
        puts += 1
        if (isAway) throw new Error('away')
        await folder.put(name, content)
      },
    }
    const changes = { ship: { target, intervalMs: 1_000 }, monotonicMs: () => nowMs }
    const { maker, tree, headFile } = await createTestMaker(root, changes)
    await expect(maker.pass(true)).rejects.toThrow('away')
    const first = await readHeadFile(headFile)
    expect(first).toBe((await tree.reader.head())?.checkpoint ?? '')
    isAway = false
    nowMs = 999
    appendTo(root, 10, 5)
    await expect(maker.pass(true)).rejects.toThrow('away')
    const { size } = openCheckpoint(first ?? '', key)
    expect([puts, openCheckpoint((await readHeadFile(headFile)) ?? '', key).size]).toEqual([1, size + 6])
    nowMs = 1_000
    expect((await maker.pass(true))?.checkpoint).toBe((await readShippedHead(folder, key)) ?? '')
    await tree.close()
  })

  test('signs heads, including the first head, while a shipping target does not respond', async () => {
    const root = temporaryDirectory()
    let reads = 0
    const target = {
      ...createFolderTarget(placesIn(root).shipped),
      readRange: () => {
        reads += 1
        return new Promise<never>(() => undefined)
      },
    }
    const { passOnly, maker, tree } = await createTestMaker(root, { ship: { target, intervalMs: 0 } })
    for (const lines of [1, 2]) {
      appendTo(root, lines * 10, lines)
      const head = await passOnly(true)
      expect(head?.checkpoint).not.toBe('')
      if (head !== null) void maker.ship(head)
    }
    // Before the first head, and for each copy.
    expect(reads).toBe(3)
    await tree.close()
  })

  test('signs a head that covers every line of every slot, in the tables, in the file and at the target', async () => {
    const root = temporaryDirectory()
    appendTo(root, 0, 100)
    appendTo(root, 100, 10, 'w01')
    const { maker, tree, directory, headFile, shipped } = await createTestMaker(root)
    const head = await maker.pass(true)
    const lines = ['w00', 'w01'].flatMap((slot) =>
      segmentNames(directory, slot).flatMap((name) => readLines(join(directory, slot, name))),
    )
    expect(head?.size).toBe(lines.length)
    const signed = openCheckpoint(head?.checkpoint ?? '', key)
    expect(hex(signed.root)).toBe(await expectedRoot(root))
    expect(await readHeadFile(headFile)).toBe(head?.checkpoint ?? null)
    expect(await readShippedHead(shipped, key)).toBe(head?.checkpoint ?? null)
    await tree.close()
  })

  test('of a process that is not the leader submits lines, and signs nothing', async () => {
    const root = temporaryDirectory()
    appendTo(root, 0, 3)
    const { maker, tree } = await createTestMaker(root)
    expect(await maker.pass(false)).toBeNull()
    expect(await tree.reader.head()).toBeNull()
    expect((await maker.pass(true))?.size).toBe(4)
    await tree.close()
  })
})

test('a head that cannot be written to the file is not stored in the tables', async () => {
  const root = temporaryDirectory()
  appendTo(root, 0, 3)
  const { maker, tree } = await createTestMaker(root, { headFile: join(root, 'missing', 'head') })
  await expect(maker.pass(true)).rejects.toThrow('ENOENT')
  expect(await tree.reader.head()).toMatchObject({ size: 4, signedSize: 0, checkpoint: '' })
  await tree.close()
})

test('the head of another log in the file, as after begin-tree on another node, is overwritten', async () => {
  const root = temporaryDirectory()
  const { maker, tree, headFile } = await createTestMaker(root)
  const before = { ...TEST_SIGNER, key: { ...key, name: `${key.name}/0` } }
  await Bun.write(headFile, signCheckpoint({ size: 9_000, root: Buffer.alloc(32) }, before))
  appendTo(root, 0, 3)
  const head = await maker.pass(true)
  expect(await readHeadFile(headFile)).toBe(head?.checkpoint ?? null)
  await tree.close()
})

describe('a failover to a database without the last head', () => {
  /** Two nodes whose database is replaced by a copy with 4 leaves, after a head of 8 leaves. */
  const failOver = async (isRead = true) => {
    const roots = { one: temporaryDirectory(), two: temporaryDirectory() }
    const files = ['primary', 'standby'].map((name) => join(roots.one, `${name}.db`)) as [string, string]
    const openAt = (path: string) =>
      Promise.all(['one', 'two'].map((node) => openDecisionTree({ kind: 'sqlite', path }, node)))
    let trees = await openAt(files[0])
    const close = async () => Promise.all(trees.map((tree) => tree.close()))
    const makerOf = (index: 0 | 1, root: string) => {
      const tree = {
        get reader() {
          return (trees[index] as DecisionTree).reader
        },
        get writer() {
          return (trees[index] as DecisionTree).writer
        },
      }
      return createTestMaker(root, { tree, ship: null })
    }
    const [one, two] = [await makerOf(0, roots.one), await makerOf(1, roots.two)]
    appendTo(roots.one, 0, 3)
    await one.maker.pass(true)
    await close()
    copyFileSync(...files)
    trees = await openAt(files[0])
    appendTo(roots.one, 3, 3)
    expect((await one.maker.pass(true))?.size).toBe(8)
    if (isRead) await two.maker.pass(false)
    await close()
    trees = await openAt(files[1])
    appendTo(roots.two, 50, 10)
    const signed = async () => (await trees[0]?.reader.head())?.signedSize
    return { one, two, signed, close: async () => Promise.all([close(), one.tree.close(), two.tree.close()]) }
  }

  test.each(['one', 'two'] as const)('stops node %s, which signed or only read the head', async (name) => {
    const { signed, close, ...nodes } = await failOver()
    for (const leads of [true, true, false]) {
      await expect(nodes[name].passOnly(leads)).rejects.toThrow(TreeRolledBackError)
    }
    expect(await signed()).toBe(4)
    await close()
  })

  test('stops a leader that did not read the head when the node that signed it returns', async () => {
    const { one, two, signed, close } = await failOver(false)
    await two.passOnly(true)
    const size = await signed()
    expect(size).toBeGreaterThan(4)
    await expect(one.passOnly(false)).rejects.toThrow(TreeRolledBackError)
    await expect(two.passOnly(true)).rejects.toThrow('the head of another node: the tree does not extend')
    expect(await signed()).toBe(size as number)
    await close()
  })
})

test('after SIGKILL at each step, every head has its leaves, and each size has one root', async () => {
  const root = temporaryDirectory()
  const roots = new Map<number, string>()
  const { headFile } = placesIn(root)
  let number = 0
  for (const step of ['submitted', 'grown', 'kept', 'signed', 'shipped', 'submitted', 'signed', 'grown']) {
    appendTo(root, number, 30)
    number += 30
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'killed-tree-maker.ts'), root, step], {
      stdout: 'ignore',
      stderr: 'pipe',
    })
    expect(await new Response(child.stderr).text()).toBe('')
    await child.exited
    expect(child.signalCode).toBe('SIGKILL')
    const { tree, shipped } = await createTestMaker(root)
    const head = await tree.reader.head()
    const kept = [head?.checkpoint || null, await readHeadFile(headFile), await readShippedHead(shipped, key)]
    for (const checkpoint of kept.filter((each) => each !== null)) {
      const current = head ?? { size: 0, root: new Uint8Array(0) }
      expect(await headProblem(checkpoint, key, current, tree.reader.readTiles)).toBeNull()
      const { size, root: signedRoot } = openCheckpoint(checkpoint, key)
      const text = hex(signedRoot)
      expect(roots.get(size) ?? text).toBe(text)
      roots.set(size, text)
    }
    await tree.close()
  }
  const { maker, tree, directory } = await createTestMaker(root)
  const head = await maker.pass(true)
  // One header per segment, and each record once.
  expect(head?.size).toBe(number + segmentNames(directory).length)
  expect(hex(head?.root ?? new Uint8Array(0))).toBe(await expectedRoot(root))
  await tree.close()
}, 60_000)

describe('an older copy of the tables is not signed because of', () => {
  const prepare = async () => {
    const root = temporaryDirectory()
    const { treeFile } = placesIn(root)
    appendTo(root, 0, 5)
    const first = await createTestMaker(root)
    await first.maker.pass(true)
    await first.tree.close()
    copyFileSync(treeFile, `${treeFile}.old`)
    appendTo(root, 5, 5)
    const second = await createTestMaker(root)
    const head = await second.maker.pass(true)
    await second.tree.close()
    copyFileSync(`${treeFile}.old`, treeFile)
    rmSync(`${treeFile}-wal`, { force: true })
    rmSync(`${treeFile}-shm`, { force: true })
    return { root, checkpoint: head?.checkpoint ?? '' }
  }
  const refusalOf = async (root: string, knownHeads: readonly string[] = []): Promise<string> => {
    const { maker, tree } = await createTestMaker(root, { knownHeads })
    try {
      await maker.pass(true)
      return 'signed'
    } catch (error) {
      if (!(error instanceof TreeRolledBackError)) throw error
      expect((await tree.reader.head())?.size).toBe(6)
      return error.message
    } finally {
      await tree.close()
    }
  }

  test('the head in the file, in the store or at the target', async () => {
    const { root, checkpoint } = await prepare()
    expect(await refusalOf(root)).toContain('the tree has only 6: the tree is an older copy or was truncated')
    rmSync(placesIn(root).headFile)
    expect(await refusalOf(root, [checkpoint])).toContain('the head in the store')
    expect(await refusalOf(root)).toContain('the shipped head')
  })

  test('a head that another process ships, until all places agree', async () => {
    const root = temporaryDirectory()
    appendTo(root, 0, 5)
    const folder = createFolderTarget(placesIn(root).shipped)
    let isAway = false
    const target: typeof folder = {
      ...folder,
      readRange: (...range) => (isAway ? Promise.reject(new Error('away')) : folder.readRange(...range)),
    }
    const { maker, passOnly, tree, shipped } = await createTestMaker(root, { ship: { target, intervalMs: 0 } })
    await maker.pass(true)
    const size = (await tree.reader.head())?.size
    const own = (await readShippedHead(shipped, key)) ?? ''
    await shipHead(shipped, key.name, signCheckpoint({ size: 9_000, root: Buffer.alloc(32) }, TEST_SIGNER))
    appendTo(root, 5, 5)
    await expect(maker.pass(true)).rejects.toThrow(TreeRolledBackError)
    const signed = (await tree.reader.head())?.signedSize
    appendTo(root, 10, 5)
    for (isAway of [false, true]) await expect(passOnly(true)).rejects.toThrow(TreeRolledBackError)
    isAway = false
    expect([(await tree.reader.head())?.signedSize, size]).toEqual([signed, 6])
    await shipHead(shipped, key.name, own)
    expect((await maker.pass(true))?.size).toBe(18)
    await tree.close()
  })

  test.each(['was not the leader', 'failed'])('a head that was shipped while the process %s', async (state) => {
    const root = temporaryDirectory()
    appendTo(root, 0, 5)
    const ship = { target: createFolderTarget(placesIn(root).shipped), intervalMs: Number.POSITIVE_INFINITY }
    let isLocked = false
    const signer = async () => (isLocked ? Promise.reject(new Error('locked')) : TEST_SIGNER)
    const { passOnly, tree, shipped } = await createTestMaker(root, { ship, signer })
    await passOnly(true)
    await shipHead(shipped, key.name, signCheckpoint({ size: 9_000, root: Buffer.alloc(32) }, TEST_SIGNER))
    isLocked = state === 'failed'
    if (isLocked) await expect(passOnly(true)).rejects.toThrow('locked')
    else await passOnly(false)
    isLocked = false
    appendTo(root, 5, 5)
    await expect(passOnly(true)).rejects.toThrow('the shipped head')
    expect(await tree.reader.head()).toMatchObject({ size: 6, signedSize: 6 })
    await tree.close()
  })

  test('a shipped object that is not a head, of which only the maximum size of a head is read', async () => {
    const { root } = await prepare()
    rmSync(placesIn(root).headFile)
    let bytesRead = 0
    const target = {
      ...createFolderTarget(placesIn(root).shipped),
      list: async (name: string) => [{ name, bytes: 10_000_000_000 }],
      read: async function* () {
        for (;;) {
          bytesRead += 65_536
          if (bytesRead > 16_777_216) return
          yield Buffer.alloc(65_536, 'a')
        }
      },
      readRange: async (_name: string, _offset: number, length: number) => {
        bytesRead += length
        return Buffer.alloc(length, 'a')
      },
    }
    const { maker, tree } = await createTestMaker(root, { ship: { target, intervalMs: 0 } })
    await expect(maker.pass(true)).rejects.toThrow('the text is not a signed note')
    expect(bytesRead).toBe(65_536)
    await tree.close()
  })

  test('leaves without lines, if the rows that map lines to leaves were removed', async () => {
    const root = temporaryDirectory()
    appendTo(root, 0, 5)
    const { maker, tree } = await createTestMaker(root)
    const size = (await maker.pass(true))?.size
    await tree.close()
    const file = new Database(placesIn(root).treeFile)
    for (const table of ['spans', 'segments']) file.run(`DELETE FROM decision_tree_${table}`)
    file.close()
    const again = await createTestMaker(root)
    await expect(again.maker.pass(true)).rejects.toThrow(TreeRolledBackError)
    expect((await again.tree.reader.head())?.size).toBe(size as number)
    await again.tree.close()
  })

  test('a different history of the same size', async () => {
    const { root } = await prepare()
    const { headFile, treeFile } = placesIn(root)
    rmSync(treeFile)
    const { maker, tree } = await createTestMaker(root, { headFile: `${headFile}.other`, ship: null })
    rmSync(join(placesIn(root).directory, 'w00'), { recursive: true })
    appendTo(root, 50, 30)
    await maker.pass(true)
    await tree.close()
    const again = await createTestMaker(root)
    await expect(again.maker.pass(true)).rejects.toThrow('it was rewritten')
    await again.tree.close()
  })
})

test('the head of a finished log does not stop its successor', async () => {
  const other = createEd25519Signer(Buffer.alloc(32, 9))
  const key = { key: verifierKeyOf('countersign/test/2', 'ed25519', other.publicKey), sign: other.sign }
  const [oldRoot, newRoot] = [temporaryDirectory(), temporaryDirectory()]
  const path = join(newRoot, 'new.db')
  let oldTree = await openDecisionTree({ kind: 'sqlite', path: join(oldRoot, 'old.db') }, 'one')
  const present: Pick<DecisionTree, 'reader' | 'writer'> = {
    get reader() {
      return oldTree.reader
    },
    get writer() {
      return oldTree.writer
    },
  }
  const old = await createTestMaker(oldRoot, { tree: present as DecisionTree, ship: null })
  appendTo(oldRoot, 0, 5)
  await old.passOnly(true)
  const newTree = await openDecisionTree({ kind: 'sqlite', path }, 'two')
  const fresh = await createTestMaker(newRoot, { tree: newTree, ship: null, key: key.key, signer: async () => key })
  appendTo(newRoot, 10, 3)
  expect((await fresh.passOnly(true))?.size).toBe(4)
  // A suspended node of the old log continues on the new tables.
  await oldTree.close()
  oldTree = await openDecisionTree({ kind: 'sqlite', path }, 'one')
  await expect(old.passOnly(false)).rejects.toThrow()
  appendTo(newRoot, 13, 2)
  expect((await fresh.passOnly(true))?.size).toBeGreaterThan(4)
  await oldTree.close()
  await newTree.close()
})

test.each(['kept', 'shipped'])(
  'a log whose name was changed without a new key signs nothing: %s head',
  async (place) => {
    const root = temporaryDirectory()
    const { maker, tree, headFile, shipped } = await createTestMaker(root)
    const renamed = { ...TEST_SIGNER, key: verifierKeyOf(`${key.name}/0`, key.type, key.publicKey) }
    const before = signCheckpoint({ size: 9_000, root: Buffer.alloc(32) }, renamed)
    if (place === 'kept') await Bun.write(headFile, before)
    else await shipHead(shipped, renamed.key.name, before)
    appendTo(root, 0, 3)
    await expect(maker.pass(true)).rejects.toThrow(TreeRolledBackError)
    expect(await readHeadFile(headFile)).toBe(place === 'kept' ? before : null)
    await tree.close()
  },
)
