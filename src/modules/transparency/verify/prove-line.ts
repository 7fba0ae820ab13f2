// Proves that a line is in the log. A proof contains the line and its salt, so only the line's owner may receive it.
import type { LineToProve } from '../../../decision-log/line-proof.ts'
import { hashLine } from '../../../decision-log/record.ts'
import type { DecisionTreeReader } from '../store/reader.ts'
import type { TreeSpan } from '../store/types.ts'
import { readCheckpoint } from '../tree/checkpoint.ts'
import { entryOf, hashLeaf, saltsOf } from '../tree/hash.ts'
import { proveInclusion, type ReadTiles } from '../tree/prove.ts'
import { createLeafReader } from './stored-leaves.ts'

// Self-contained proof: index, inclusion proof and checkpoint. Source: https://c2sp.org/tlog-proof.

interface ProofParts {
  /** Content from which the entry is computed; untrusted by itself. */
  readonly extra: Uint8Array
  readonly index: number
  readonly path: readonly Uint8Array[]
  readonly checkpoint: string
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

export const encodeProof = ({ extra, index, path, checkpoint }: ProofParts): string =>
  ['c2sp.org/tlog-proof@v1', `extra ${base64(extra)}`, `index ${index}`, ...path.map(base64), '', checkpoint].join('\n')

type ProvingTree = Pick<DecisionTreeReader, 'readTiles' | 'head' | 'published' | 'spansAt'>

const findLeaf = async (readTiles: ReadTiles, leafHash: Buffer, { firstLeaf, leaves }: TreeSpan) => {
  const leafAt = createLeafReader(readTiles)
  for (let leaf = firstLeaf; leaf < firstLeaf + leaves; leaf++) {
    if (leafHash.equals(await leafAt(leaf))) return leaf
  }
  return null
}

/** Returns null if no signed head covers the line yet. */
export const proveLine = async (tree: ProvingTree, saltKey: Uint8Array, place: LineToProve): Promise<string | null> => {
  const lineHash = Buffer.from(hashLine(place.line), 'hex')
  const salt = saltsOf(lineHash, saltKey)
  const leafHash = hashLeaf(entryOf(salt, lineHash))
  // Prefers the cosigned head, which may be a few seconds older.
  const heads = [await tree.published(), (await tree.head())?.checkpoint].flatMap((checkpoint) =>
    checkpoint ? [{ checkpoint, size: readCheckpoint(checkpoint).size }] : [],
  )
  if (heads.length === 0) return null
  for (const span of await tree.spansAt(place, place.offset)) {
    const index = await findLeaf(tree.readTiles, leafHash, span)
    const head = index === null ? undefined : heads.find(({ size }) => index < size)
    if (index === null || head === undefined) continue
    const { checkpoint, size } = head
    const path = await proveInclusion(tree.readTiles, index, size)
    return encodeProof({ extra: Buffer.concat([salt, Buffer.from(place.line)]), index, path, checkpoint })
  }
  return null
}
