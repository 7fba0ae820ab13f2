// Keccak-256, compared with its published value and noble.
import { expect, test } from 'bun:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { loadKeccak256 } from '../../src/signing/statement.ts'

const keccak = await loadKeccak256()

test('the hash of an empty input is the value of Keccak-256, not of SHA-3', () => {
  expect(keccak(new Uint8Array()).toHex()).toBe('c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470')
})

test('the hash equals noble’s for any bytes and views, around the block size and beyond the heap of hash-wasm', () => {
  const length = fc.oneof(fc.nat(2_000), fc.constantFrom(135, 136, 137, 272, 16_384, 16_385, 70_000))
  fc.assert(
    fc.property(length, fc.nat(255), fc.nat(50), (size, seed, offset) => {
      const view = Uint8Array.from({ length: size + offset }, (_, index) => index * seed).subarray(offset)
      expect(keccak(view).toHex()).toBe(keccak_256(view).toHex())
    }),
  )
})
