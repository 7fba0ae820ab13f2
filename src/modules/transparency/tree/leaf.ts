// Leaf of a line: the hash of a salt and the line's SHA-256. The salt prevents comparing a guessed line with a
// published tree. It is derived, not stored: the AES-256 encryption of the first half of the line hash with the salt
// key.
import { createCipheriv } from 'node:crypto'
import { HASH_BYTES, hashLeaf } from './hash.ts'

const SALT_BYTES = 16

/** @param lineHashes Concatenated SHA-256 hashes of lines @param saltKey 32 bytes @returns concatenated salts */
export const saltsOf = (lineHashes: Uint8Array, saltKey: Uint8Array): Buffer => {
  const count = lineHashes.length / HASH_BYTES
  const blocks = Buffer.allocUnsafe(count * SALT_BYTES)
  const hashes = Buffer.from(lineHashes.buffer, lineHashes.byteOffset, lineHashes.length)
  for (let line = 0; line < count; line++) {
    hashes.copy(blocks, line * SALT_BYTES, line * HASH_BYTES, line * HASH_BYTES + SALT_BYTES)
  }
  // ECB serves as a keyed function of one block per line, not for confidentiality.
  return createCipheriv('aes-256-ecb', saltKey, null).setAutoPadding(false).update(blocks)
}

export const entryOf = (salt: Uint8Array, lineHash: Uint8Array): Buffer => Buffer.concat([salt, lineHash])

/** Concatenated leaf hashes. Parameters as in `saltsOf`. */
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
