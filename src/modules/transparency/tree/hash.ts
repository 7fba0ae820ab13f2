// Hashes of the Merkle tree (RFC 6962, 2.1): SHA-256 of the input with a prefix byte that distinguishes leaves from
// nodes.

export const HASH_BYTES = 32

const sha256 = (bytes: Uint8Array): Buffer => {
  const hash = Buffer.alloc(HASH_BYTES)
  Bun.SHA256.hash(bytes, hash)
  return hash
}

/** Root of a tree without leaves. */
export const EMPTY_ROOT: Uint8Array = sha256(new Uint8Array(0))

/** SHA-256 of 0x00 and the entry. */
export const hashLeaf = (entry: Uint8Array): Buffer => {
  const input = Buffer.alloc(1 + entry.length)
  input.set(entry, 1)
  return sha256(input)
}

const nodeInput = Buffer.alloc(1 + 2 * HASH_BYTES, 1)
const nodeHash = Buffer.alloc(HASH_BYTES)

/** Hashes two adjacent children at `from` and writes their parent to `to`, without allocation. */
const hashPair = (source: Buffer, from: number, target: Buffer, to: number): void => {
  source.copy(nodeInput, 1, from, from + 2 * HASH_BYTES)
  Bun.SHA256.hash(nodeInput, nodeHash)
  nodeHash.copy(target, to)
}

/** SHA-256 of 0x01, the left child and the right child. */
export const hashNode = (left: Uint8Array, right: Uint8Array): Buffer => {
  const node = Buffer.concat([left, right])
  hashPair(node, 0, node, 0)
  return node.subarray(0, HASH_BYTES)
}

/** Root of `count` adjacent hashes starting at number `first`. `count` must be a power of two. */
export const hashSubtree = (hashes: Uint8Array, first: number, count: number): Buffer => {
  const row = Buffer.from(hashes.slice(first * HASH_BYTES, (first + count) * HASH_BYTES))
  for (let width = count; width > 1; width /= 2) {
    for (let pair = 0; pair < width / 2; pair++) hashPair(row, pair * 2 * HASH_BYTES, row, pair * HASH_BYTES)
  }
  return row.subarray(0, HASH_BYTES)
}

/** Root of complete subtrees, which are ordered by decreasing size and combined from the right. */
export const foldSubtrees = (subtrees: readonly Uint8Array[]): Uint8Array =>
  subtrees.length === 0 ? EMPTY_ROOT : subtrees.reduceRight((right, left) => hashNode(left, right))
