// Leaves of the tree, which can be reproduced only with the salt key.
import { expect, test } from 'bun:test'
import { createCipheriv, createHash } from 'node:crypto'
import { entryOf, leafHashesOf, leafHashOf, saltsOf } from '../../src/modules/transparency/tree/hash.ts'

const SALT_KEY = Buffer.alloc(32, 1)
const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()

test('a leaf is the hash of 0x00, the salt and the hash of the line', () => {
  const line = hashOf('a line')
  const cipher = createCipheriv('aes-256-ecb', SALT_KEY, null).setAutoPadding(false)
  const salt = cipher.update(line.subarray(0, 16))
  expect(saltsOf(line, SALT_KEY)).toEqual(salt)
  const leaf = createHash('sha256')
    .update(Buffer.concat([Uint8Array.of(0), salt, line]))
    .digest()
  expect(leafHashOf(line, SALT_KEY)).toEqual(leaf)
  expect(entryOf(salt, line)).toHaveLength(48)
})

test('leaves that are calculated together equal leaves that are calculated one by one, for any memory alignment', () => {
  const lines = Array.from({ length: 300 }, (_, index) => hashOf(`line ${index}`))
  const padded = Buffer.concat([Buffer.alloc(5), ...lines])
  const leaves = leafHashesOf(padded.subarray(5), SALT_KEY)
  expect(leaves).toEqual(Buffer.concat(lines.map((line) => leafHashOf(line, SALT_KEY))))
})
