// What a line of the decision log is in the tree. The entry is a salt and the line's SHA-256; the tree holds its hash alone,
// so that a published tree tells nothing: who guesses a line can't compare it without the salt. The salt needs no place of
// its own: it is the AES-256 encryption, by the deployment's salt key, of the first half of the line's hash.
import { createCipheriv } from 'node:crypto'
import { HASH_BYTES, hashLeaf } from './hash.ts'

const SALT_BYTES = 16

/** Salts of lines, side by side. @param lineHashes SHA-256 of each line, side by side. @param saltKey 32 bytes */
export const saltsOf = (lineHashes: Uint8Array, saltKey: Uint8Array): Buffer => {
  const count = lineHashes.length / HASH_BYTES
  const blocks = Buffer.allocUnsafe(count * SALT_BYTES)
  const hashes = Buffer.from(lineHashes.buffer, lineHashes.byteOffset, lineHashes.length)
  for (let line = 0; line < count; line++) {
    hashes.copy(blocks, line * SALT_BYTES, line * HASH_BYTES, line * HASH_BYTES + SALT_BYTES)
  }
  // One block each, every one different: the cipher is used as a keyed function and not to hide a text.
  return createCipheriv('aes-256-ecb', saltKey, null).setAutoPadding(false).update(blocks)
}

/** @param salt of the line */
export const entryOf = (salt: Uint8Array, lineHash: Uint8Array): Buffer => Buffer.concat([salt, lineHash])

/** Hashes of the leaves of lines, side by side; parameters as for `saltsOf`. */
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

/** Of one line. */
export const leafHashOf = (lineHash: Uint8Array, saltKey: Uint8Array): Buffer =>
  hashLeaf(entryOf(saltsOf(lineHash, saltKey), lineHash))
