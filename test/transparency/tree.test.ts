// The tree, compared with vectors and with the definition of the RFC.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { edgeOf, edgeTiles, rootOf } from '../../src/modules/transparency/tree/grow.ts'
import { EMPTY_ROOT, hashLeaf, hashNode } from '../../src/modules/transparency/tree/hash.ts'
import {
  proveConsistency,
  proveInclusion,
  readRoot,
  TileTooShortError,
  verifyConsistency,
} from '../../src/modules/transparency/tree/prove.ts'
import { createGrownTree } from './grown-tree.ts'
import { naiveConsistency, naiveLeaf, naivePath, naiveRoot } from './naive-tree.ts'
import { verifyInclusion } from './verify-inclusion.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const bytes = (text: string): Buffer => Buffer.from(text, 'hex')

/** The eight leaves and roots that implementations of Certificate Transparency use in tests. */
const ENTRIES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]
const leafOf = (number: number): Buffer => naiveLeaf(Buffer.from(`leaf ${number}`))
const leavesUpTo = (count: number): Buffer[] => Array.from({ length: count }, (_, index) => leafOf(index))

describe('vectors', () => {
  test('match the roots of the first eight trees', async () => {
    expect(hex(EMPTY_ROOT)).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    const tree = createGrownTree()
    expect(hex(tree.root())).toBe(hex(EMPTY_ROOT))
    for (const [index, entry] of ENTRIES.entries()) {
      tree.append([hashLeaf(bytes(entry))])
      expect(hex(tree.root())).toBe(ROOTS[index] as string)
      expect(hex(await readRoot(tree.readTiles, index + 1))).toBe(ROOTS[index] as string)
    }
  })

  test('match the proofs of the example with seven leaves in RFC 9162, 2.1.5', async () => {
    const tree = createGrownTree()
    const leaves = ENTRIES.slice(0, 7).map((entry) => hashLeaf(bytes(entry)))
    tree.append(leaves)
    const [a, b, c, d, e, f, j] = leaves as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer]
    const [g, h, i] = [hashNode(a, b), hashNode(c, d), hashNode(e, f)]
    const [k, l] = [hashNode(g, h), hashNode(i, j)]
    expect(hex(tree.root())).toBe(hex(hashNode(k, l)))
    const inclusion = async (index: number) => (await proveInclusion(tree.readTiles, index, 7)).map(hex)
    expect(await inclusion(0)).toEqual([b, h, l].map(hex))
    expect(await inclusion(3)).toEqual([c, g, l].map(hex))
    expect(await inclusion(4)).toEqual([f, j, k].map(hex))
    expect(await inclusion(6)).toEqual([i, k].map(hex))
    const consistency = async (size: number) => (await proveConsistency(tree.readTiles, size, 7)).map(hex)
    expect(await consistency(3)).toEqual([c, d, g, l].map(hex))
    expect(await consistency(4)).toEqual([l].map(hex))
    expect(await consistency(6)).toEqual([i, j, k].map(hex))
  })
})

describe('trees of any size', () => {
  const LARGE = 70_000
  const large = createGrownTree()
  const leaves = leavesUpTo(LARGE)
  large.append(leaves)

  test('have the roots and proofs that the RFC defines, and changed proofs are rejected', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1_500 }),
        fc.nat(),
        fc.nat(),
        fc.nat(),
        async (size, index, old, flaw) => {
          const leaf = index % size
          const oldSize = 1 + (old % size)
          const own = leaves.slice(0, size)
          const root = naiveRoot(own)
          expect(hex(await readRoot(large.readTiles, size))).toBe(hex(root))

          const path = await proveInclusion(large.readTiles, leaf, size)
          expect(path.map(hex)).toEqual(naivePath(leaf, own).map(hex))
          const proof = { index: leaf, size, leafHash: leafOf(leaf), root, path }
          expect(verifyInclusion(proof)).toBe(true)
          expect(verifyInclusion({ ...proof, leafHash: leafOf(size) })).toBe(false)
          expect(verifyInclusion({ ...proof, path: [...path, root] })).toBe(false)
          if (size > 1) expect(verifyInclusion({ ...proof, index: (leaf + 1) % size })).toBe(false)

          const between = await proveConsistency(large.readTiles, oldSize, size)
          expect(between.map(hex)).toEqual(naiveConsistency(oldSize, own).map(hex))
          const oldRoot = naiveRoot(own.slice(0, oldSize))
          const kept = { oldSize, oldRoot, size, root, path: between }
          expect(verifyConsistency(kept)).toBe(true)
          expect(verifyConsistency({ ...kept, oldRoot: leafOf(size) })).toBe(false)
          expect(verifyConsistency({ ...kept, root: leafOf(size) })).toBe(false)
          if (between.length > 0) {
            const changed = between.map((hash, at) => (at === flaw % between.length ? leafOf(flaw) : hash))
            expect(verifyConsistency({ ...kept, path: changed })).toBe(false)
            expect(verifyConsistency({ ...kept, path: between.slice(1) })).toBe(false)
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  test('proofs across several levels of tiles are valid', async () => {
    const root = large.root()
    expect(hex(root)).toBe(hex(naiveRoot(leaves)))
    for (const index of [0, 255, 256, 65_535, 65_536, LARGE - 1]) {
      const path = await proveInclusion(large.readTiles, index, LARGE)
      expect(verifyInclusion({ index, size: LARGE, leafHash: leafOf(index), root, path })).toBe(true)
    }
    for (const oldSize of [1, 256, 257, 65_536, 65_537, LARGE]) {
      const path = await proveConsistency(large.readTiles, oldSize, LARGE)
      const oldRoot = naiveRoot(leaves.slice(0, oldSize))
      expect(verifyConsistency({ oldSize, oldRoot, size: LARGE, root, path })).toBe(true)
    }
  })

  test('70,000 leaves have the tiles of the example in tlog-tiles', () => {
    const widths = [...large.tiles].map(([name, hashes]) => [name, hashes.length / 32] as const)
    expect(widths.filter(([name, width]) => name.startsWith('0/') && width === 256)).toHaveLength(273)
    expect(Object.fromEntries(widths.filter(([, width]) => width < 256))).toEqual({ '0/273': 112, '1/1': 17, '2/0': 1 })
    expect(edgeTiles(LARGE)).toEqual([
      { level: 0, number: 273 },
      { level: 1, number: 1 },
      { level: 2, number: 0 },
    ])
  })

  test('an edge from tiles has the root of the tree, even at an older size', async () => {
    for (const size of [1, 255, 256, 257, 65_536, LARGE]) {
      const edge = edgeOf(size, await large.readTiles(edgeTiles(size)))
      expect(hex(rootOf(edge))).toBe(hex(naiveRoot(leaves.slice(0, size))))
    }
  })

  test('many small appends create the same tiles as one large append', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 8 }), (counts) => {
        const grown = createGrownTree()
        let size = 0
        for (const count of counts) {
          grown.append(leaves.slice(size, size + count))
          size += count
        }
        const whole = createGrownTree()
        whole.append(leaves.slice(0, size))
        expect(grown.tiles).toEqual(whole.tiles)
        expect(hex(grown.root())).toBe(hex(whole.root()))
      }),
      { numRuns: 20 },
    )
  })

  test('a tile with missing hashes is an error', async () => {
    const cut = async (names: Parameters<typeof large.readTiles>[0]) =>
      (await large.readTiles(names)).map((hashes) => hashes.subarray(0, -32))
    await expect(readRoot(cut, LARGE)).rejects.toBeInstanceOf(TileTooShortError)
    await expect(proveInclusion(large.readTiles, 5, 5)).rejects.toBeInstanceOf(RangeError)
  })
})
