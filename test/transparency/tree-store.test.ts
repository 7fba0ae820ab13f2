// The tables of the tree: each line once and one root per size, even with concurrent writers.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { systemClock } from '../../src/lib/time.ts'
import { createDecisionTreeReader } from '../../src/modules/transparency/store/reader.ts'
import { prepareDecisionTree } from '../../src/modules/transparency/store/tables.ts'
import type { LeafRun } from '../../src/modules/transparency/store/types.ts'
import { createDecisionTreeWriter, TreeMovedError } from '../../src/modules/transparency/store/writer.ts'
import { openCheckpoint } from '../../src/modules/transparency/tree/checkpoint.ts'
import { verifierKeyOf } from '../../src/modules/transparency/tree/note.ts'
import { proveInclusion, readRoot } from '../../src/modules/transparency/tree/prove.ts'
import { createEd25519Signer } from '../../src/signing/ed25519.ts'
import { readCatalog } from '../../src/store/copy/table-catalog.ts'
import type { Database } from '../../src/store/database.ts'
import { type DatabasePlace, describeDatabases } from '../store/dialects.ts'
import { naiveRoot } from './naive-tree.ts'
import { verifyInclusion } from './verify-inclusion.ts'

const { publicKey, sign } = createEd25519Signer(Buffer.alloc(32, 5))
const signer = { key: verifierKeyOf('log.example', 'ed25519', publicKey), sign }
const leaf = (text: string): Buffer => createHash('sha256').update(text).digest()

const runOf = (slot: string, startByte: number, leaves: readonly Uint8Array[]): LeafRun => ({
  slot,
  segment: 'a.ndjson',
  startByte,
  endByte: startByte + leaves.length * 10,
  hashes: Buffer.concat(leaves),
})

describeDatabases((dialect) => {
  let place: DatabasePlace
  let database: Database

  beforeEach(async () => {
    place = await dialect.createPlace()
    database = await place.open({ clock: systemClock })
    await prepareDecisionTree(database)
  })
  afterEach(async () => {
    await database.close()
    await place.remove()
  })

  test('the lines of two nodes form one signed tree, in which each line can be found', async () => {
    const [one, two] = ['web-1', 'web-2'].map((node) => createDecisionTreeWriter(database, node))
    const reader = createDecisionTreeReader(database)
    expect(await reader.head()).toBeNull()
    const texts = Array.from({ length: 700 }, (_, index) => leaf(`line ${index}`))
    await one?.submit([runOf('w00', 0, texts.slice(0, 300)), runOf('w01', 0, texts.slice(300, 301))])
    await two?.submit([runOf('w00', 0, texts.slice(301, 500))])
    while (await one?.grow());
    await one?.submit([runOf('w00', 3_000, texts.slice(500, 700))])
    while (await two?.grow());
    const head = await two?.sign(signer)
    expect(head?.size).toBe(700)
    expect(openCheckpoint(head?.checkpoint ?? '', signer.key).size).toBe(700)

    const byLeaf: Buffer[] = []
    for (const segment of await reader.segments()) {
      for (const { firstLeaf, leaves } of await reader.spans(segment)) {
        for (let index = firstLeaf; index < firstLeaf + leaves; index++) {
          const [tile] = await reader.readTiles([{ level: 0, number: Math.floor(index / 256) }])
          byLeaf[index] = Buffer.from(tile ?? []).subarray((index % 256) * 32, ((index % 256) + 1) * 32)
        }
      }
    }
    const root = Buffer.from(head?.root ?? [])
    expect(root).toEqual(Buffer.from(naiveRoot(byLeaf)))
    expect(byLeaf.map((hash) => hash.toString('hex')).toSorted()).toEqual(
      texts.map((hash) => hash.toString('hex')).toSorted(),
    )
    const [span] = await reader.spansAt({ slot: 'w00', segment: 'a.ndjson' }, 3_010)
    expect(span?.endByte).toBe(5_000)
    // Ten bytes per line; the row may extend an earlier one, depending on the order of the nodes.
    const index = (span?.firstLeaf ?? 0) + (3_010 - (span?.startByte ?? 0)) / 10
    const path = await proveInclusion(reader.readTiles, index, 700)
    expect(verifyInclusion({ index, size: 700, leafHash: texts[501] as Buffer, root, path })).toBe(true)
    expect(await reader.spansAt({ slot: 'w00', segment: 'a.ndjson' }, 0)).toHaveLength(2)
    expect(await reader.spansAt({ slot: 'w00', segment: 'a.ndjson' }, 5_000)).toEqual([])
    expect(await reader.spansAt({ slot: 'w02', segment: 'a.ndjson' }, 0)).toEqual([])
  })

  test('a second submission of a line fails completely', async () => {
    const first = createDecisionTreeWriter(database, 'web-1')
    const second = createDecisionTreeWriter(database, 'web-1')
    await first.submit([runOf('w00', 0, [leaf('a')])])
    const submission = second.submit([runOf('w01', 0, [leaf('b')]), runOf('w00', 0, [leaf('a')])])
    await expect(submission).rejects.toBeInstanceOf(TreeMovedError)
    expect(await second.taken()).toEqual(new Map([['w00/a.ndjson', 10]]))
    while (await first.grow());
    expect((await first.sign(signer)).size).toBe(1)
  })

  test('if several processes grow the tree simultaneously, each size has one root, and no leaf appears twice', async () => {
    const writers = Array.from({ length: 4 }, (_, index) => createDecisionTreeWriter(database, `web-${index}`))
    const checkpoints = new Set<string>()
    for (let round = 0; round < 8; round++) {
      await Promise.all(
        writers.map((writer, index) =>
          writer.submit([runOf('w00', round * 20, [leaf(`${index} ${round}`), leaf('x')])]),
        ),
      )
      await Promise.all(
        writers.map((writer) =>
          writer.grow().catch((error: unknown) => {
            if (!(error instanceof TreeMovedError)) throw error
          }),
        ),
      )
      for (const { checkpoint } of await Promise.all(writers.map((writer) => writer.sign(signer)))) {
        checkpoints.add(checkpoint)
      }
    }
    while (await writers[0]?.grow());
    expect((await writers[0]?.sign(signer))?.size).toBe(64)
    const heads = [...checkpoints].map((checkpoint) => openCheckpoint(checkpoint, signer.key))
    expect(new Set(heads.map(({ size }) => size)).size).toBe(heads.length)
  })

  test('a head is not stored if its copy elsewhere fails', async () => {
    const writer = createDecisionTreeWriter(database, 'web-1')
    const reader = createDecisionTreeReader(database)
    await writer.submit([runOf('w00', 0, [leaf('a'), leaf('b')])])
    while (await writer.grow());
    await expect(
      writer.sign(signer, async (head, readTiles) => {
        expect(await readRoot(readTiles, head.size)).toEqual(head.root)
        throw new Error(`not kept: ${head.signedSize}`)
      }),
    ).rejects.toThrow('not kept: 2')
    expect(await reader.head()).toMatchObject({ size: 2, signedSize: 0, checkpoint: '' })
    expect((await writer.sign(signer)).checkpoint).toBe((await reader.head())?.checkpoint ?? '')
  })

  test('lines that follow the previous ones extend their row', async () => {
    const writer = createDecisionTreeWriter(database, 'web-1')
    const reader = createDecisionTreeReader(database)
    for (let round = 0; round < 5; round++) {
      await writer.submit([runOf('w00', round * 20, [leaf(`a${round}`), leaf(`b${round}`)])])
      while (await writer.grow());
    }
    const place = { node: 'web-1', slot: 'w00', segment: 'a.ndjson' }
    expect(await reader.spans(place)).toEqual([{ startByte: 0, endByte: 100, firstLeaf: 0, leaves: 10 }])
  })

  test('a copy of the store excludes the tables of the tree', async () => {
    expect(await readCatalog(database, dialect.name === 'SQLite' ? 'sqlite' : 'postgres')).toEqual([])
    await prepareDecisionTree(database)
  })
})
