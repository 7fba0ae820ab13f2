// A million random leaves in random batches against a tree that is made from the RFC's definition alone: roots, inclusion and
// consistency proofs of random sizes, and that no changed proof holds.
//   bun test/long/random-trees.ts [--leaves 1000000] [--seed text]
// Ends with 0 when everything agreed, and with 1 at the first that did not, naming the sizes.
import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { edgeOf, edgeTiles, rootOf } from '../../src/modules/transparency/tree/grow.ts'
import { proveConsistency, proveInclusion, readRoot } from '../../src/modules/transparency/tree/prove.ts'
import { verifyConsistency } from '../../src/modules/transparency/tree/verify.ts'
import { answerHelp } from '../support/head-help.ts'
import { createGrownTree } from '../transparency/grown-tree.ts'
import { createRememberingTree } from '../transparency/remembering-tree.ts'
import { verifyInclusion } from '../transparency/verify-inclusion.ts'

answerHelp(import.meta)

const PROOFS_A_BATCH = 10
const BATCH_MAX = 4_096

const { values } = parseArgs({ options: { leaves: { type: 'string' }, seed: { type: 'string' } } })
const leaves = Number(values.leaves ?? '1000000')
if (!Number.isSafeInteger(leaves) || leaves < 1) throw new Error('--leaves is not a positive integer')
const seed = values.seed ?? String(Date.now())

let drawn = 0
const draw = (): Buffer => createHash('sha256').update(`${seed} ${drawn++}`).digest()
/** From 0 up to but without `end`. */
const below = (end: number): number => draw().readUIntBE(0, 6) % end

const same = (one: readonly Uint8Array[], other: readonly Uint8Array[]): boolean =>
  one.length === other.length && one.every((hash, index) => Buffer.compare(hash, other[index] as Uint8Array) === 0)
const require = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(`seed ${seed}: ${what}`)
}

const changed = (path: readonly Uint8Array[]): readonly Uint8Array[] => {
  const at = below(path.length)
  return path.map((hash, index) => {
    if (index !== at) return hash
    const other = Uint8Array.from(hash)
    const byte = below(other.length)
    other[byte] = (other[byte] ?? 0) ^ (1 << below(8))
    return other
  })
}

const tree = createGrownTree()
const naive = createRememberingTree()
const startedMs = performance.now()
let proofs = 0
let batches = 0

const checkProofs = async (size: number): Promise<void> => {
  const root = naive.root(size)
  const index = below(size)
  const path = await proveInclusion(tree.readTiles, index, size)
  require(same(path, naive.path(index, size)), `the path of leaf ${index} of ${size}`)
  const inclusion = { index, size, leafHash: naive.leaf(index), root, path }
  require(verifyInclusion(inclusion), `leaf ${index} of ${size} is not found to be included`)
  const oldSize = 1 + below(size)
  const steps = await proveConsistency(tree.readTiles, oldSize, size)
  require(same(steps, naive.consistency(oldSize, size)), `the consistency of ${oldSize} and ${size}`)
  const consistency = { oldSize, oldRoot: naive.root(oldSize), size, root, path: steps }
  require(verifyConsistency(consistency), `${size} is not found to go on from ${oldSize}`)
  if (path.length > 0) {
    require(!verifyInclusion({ ...inclusion, path: changed(path) }), `a changed path of leaf ${index} of ${size} holds`)
  }
  if (steps.length > 0) {
    const wrong = { ...consistency, path: changed(steps) }
    require(!verifyConsistency(wrong), `a changed consistency of ${oldSize} and ${size} holds`)
  }
  proofs += 2
}

while (naive.size() < leaves) {
  const count = Math.min(leaves - naive.size(), 1 + below(2 ** below(Math.log2(BATCH_MAX) + 1)))
  const batch = Array.from({ length: count }, draw)
  tree.append(batch)
  for (const leaf of batch) naive.append(leaf)
  batches += 1
  const size = naive.size()
  const root = naive.root(size)
  require(same([tree.root()], [root]), `the root of ${size}`)
  // As after a restart: the edge from what was stored.
  require(same([rootOf(edgeOf(size, await tree.readTiles(edgeTiles(size))))], [root]), `the stored edge of ${size}`)
  const older = 1 + below(size)
  require(same([await readRoot(tree.readTiles, older)], [naive.root(older)]), `the root of ${older} in ${size}`)
  for (let number = 0; number < PROOFS_A_BATCH; number++) await checkProofs(1 + below(size))
}
const seconds = (performance.now() - startedMs) / 1_000
console.log(
  `seed ${seed}: ${naive.size()} leaves in ${batches} batches, ${3 * batches} roots and ${proofs} proofs agree`,
)
console.log(`${seconds.toFixed(1)} s`)
