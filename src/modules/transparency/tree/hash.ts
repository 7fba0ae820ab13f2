// Hashes of the Merkle tree (RFC 6962, 2.1): a prefix byte distinguishes leaves from nodes.
import { createCipheriv } from 'node:crypto'

export const HASH_BYTES = 32

const sha256 = (bytes: Uint8Array): Buffer => {
  const hash = Buffer.alloc(HASH_BYTES)
  Bun.SHA256.hash(bytes, hash)
  return hash
}

/** Root of a tree without leaves. */
export const EMPTY_ROOT: Uint8Array = sha256(new Uint8Array(0))

/** Returns the SHA-256 of 0x00 and the entry. */
export const hashLeaf = (entry: Uint8Array): Buffer => {
  const input = Buffer.alloc(1 + entry.length)
  input.set(entry, 1)
  return sha256(input)
}

const nodeInput = Buffer.alloc(1 + 2 * HASH_BYTES, 1)
const nodeHash = Buffer.alloc(HASH_BYTES)

/** Hashes two adjacent children without allocation. */
const hashPair = (source: Buffer, from: number, target: Buffer, to: number): void => {
  source.copy(nodeInput, 1, from, from + 2 * HASH_BYTES)
  Bun.SHA256.hash(nodeInput, nodeHash)
  nodeHash.copy(target, to)
}

/** Returns the SHA-256 of 0x01, left child and right child. */
export const hashNode = (left: Uint8Array, right: Uint8Array): Buffer => {
  const node = Buffer.concat([left, right])
  hashPair(node, 0, node, 0)
  return node.subarray(0, HASH_BYTES)
}

/** @param first number of the first hash @param count a power of two */
export const hashSubtree = (hashes: Uint8Array, first: number, count: number): Buffer => {
  const row = Buffer.from(hashes.slice(first * HASH_BYTES, (first + count) * HASH_BYTES))
  for (let width = count; width > 1; width /= 2) {
    for (let pair = 0; pair < width / 2; pair++) hashPair(row, pair * 2 * HASH_BYTES, row, pair * HASH_BYTES)
  }
  return row.subarray(0, HASH_BYTES)
}

/** Combines complete subtrees, which have decreasing sizes, from the right. */
export const foldSubtrees = (subtrees: readonly Uint8Array[]): Uint8Array =>
  subtrees.length === 0 ? EMPTY_ROOT : subtrees.reduceRight((right, left) => hashNode(left, right))

// Leaf of a line: hash of a salt and the line's SHA-256. The salt prevents checking guessed lines against a published
// tree. It is derived, not stored: the first half of the line hash, encrypted with the salt key.
const SALT_BYTES = 16

/** Returns concatenated salts, like `lineHashes`. @param saltKey 32 bytes */
export const saltsOf = (lineHashes: Uint8Array, saltKey: Uint8Array): Buffer => {
  const count = lineHashes.length / HASH_BYTES
  const blocks = Buffer.allocUnsafe(count * SALT_BYTES)
  const hashes = Buffer.from(lineHashes.buffer, lineHashes.byteOffset, lineHashes.length)
  for (let line = 0; line < count; line++) {
    hashes.copy(blocks, line * SALT_BYTES, line * HASH_BYTES, line * HASH_BYTES + SALT_BYTES)
  }
  // Here, ECB is only a keyed function of one block per line, so equal blocks need not be hidden.
  return createCipheriv('aes-256-ecb', saltKey, null).setAutoPadding(false).update(blocks)
}

export const entryOf = (salt: Uint8Array, lineHash: Uint8Array): Buffer => Buffer.concat([salt, lineHash])

/** Returns concatenated hashes; parameters as in `saltsOf`. */
export const leafHashesOf = (lineHashes: Uint8Array, saltKey: Uint8Array): Buffer => {
  const salts = saltsOf(lineHashes, saltKey)
  const hashes = Buffer.from(lineHashes.buffer, lineHashes.byteOffset, lineHashes.length)
  const leaves = Buffer.allocUnsafe(hashes.length)
  const input = Buffer.alloc(1 + SALT_BYTES + HASH_BYTES)
  const leaf = Buffer.alloc(HASH_BYTES)
  for (let line = 0; line < hashes.length / HASH_BYTES; line++) {
    salts.copy(input, 1, line * SALT_BYTES, (line + 1) * SALT_BYTES)
    hashes.copy(input, 1 + SALT_BYTES, line * HASH_BYTES, (line + 1) * HASH_BYTES)
    Bun.SHA256.hash(input, leaf)
    leaf.copy(leaves, line * HASH_BYTES)
  }
  return leaves
}

export const leafHashOf = (lineHash: Uint8Array, saltKey: Uint8Array): Buffer =>
  hashLeaf(entryOf(saltsOf(lineHash, saltKey), lineHash))
