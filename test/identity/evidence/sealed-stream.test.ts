// Encrypted documents: they open unchanged, or not at all.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { EvidenceUnreadableError } from '../../../src/identity/evidence/errors.ts'
import { CHUNK_BYTES, collect, openStream, sealStream } from '../../../src/identity/evidence/sealed-stream.ts'

const KEY = createHash('sha256').update('countersign test evidence key 1').digest()
const OTHER_KEY = createHash('sha256').update('countersign test evidence key 2').digest()
const CONTEXT = 'org_a\nsession\nevidence_1'
const HEADER_BYTES = 11
const PIECE_BYTES = CHUNK_BYTES + 16

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const seal = (bytes: Uint8Array, size = 10_000): Promise<Uint8Array> =>
  collect(sealStream(KEY, pieces(bytes, size), CONTEXT))
const open = (sealed: Uint8Array, key: Uint8Array = KEY, context = CONTEXT): Promise<Uint8Array> =>
  collect(openStream(key, pieces(sealed, 9_999), context))

const sample = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => (index * 31) % 251)
const refused = async (attempt: Promise<unknown>): Promise<void> => {
  await expect(attempt).rejects.toBeInstanceOf(EvidenceUnreadableError)
}

describe('a sealed stream', () => {
  test('opens to the same bytes, for any chunks of the input', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.nat(300),
          fc.nat(200_000),
          fc.constantFrom(0, 1, 2, 3).map((chunks) => chunks * CHUNK_BYTES),
        ),
        fc.integer({ min: 1, max: 100_000 }),
        async (length, size) => {
          const bytes = sample(length)
          expect(Buffer.from(await open(await seal(bytes, size))).equals(Buffer.from(bytes))).toBe(true)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('has 16 additional bytes per chunk, and different bytes each time', async () => {
    const bytes = sample(CHUNK_BYTES * 2)
    const sealed = await seal(bytes)
    expect(sealed.length).toBe(HEADER_BYTES + 2 * PIECE_BYTES)
    expect(Buffer.from(sealed).equals(Buffer.from(await seal(bytes)))).toBe(false)
  })

  test('is refused if any bit changed', async () => {
    const sealed = await seal(sample(1_000))
    await fc.assert(
      fc.asyncProperty(fc.nat(sealed.length - 1), fc.nat(7), async (at, bit) => {
        const changed = Uint8Array.from(sealed)
        changed[at] = changed[at]! ^ (1 << bit)
        await refused(open(changed))
      }),
      { numRuns: 200 },
    )
  })

  test('is refused if it is truncated anywhere, even between two chunks', async () => {
    const sealed = await seal(sample(CHUNK_BYTES * 2 + 100))
    for (const length of [0, 5, HEADER_BYTES, HEADER_BYTES + 10, HEADER_BYTES + PIECE_BYTES, sealed.length - 1]) {
      await refused(open(sealed.subarray(0, length)))
    }
    await refused(open(sealed.subarray(0, HEADER_BYTES + 2 * PIECE_BYTES)))
  })

  test('is refused if its chunks are reordered, repeated, removed or added', async () => {
    const sealed = Buffer.from(await seal(sample(CHUNK_BYTES * 3)))
    const header = sealed.subarray(0, HEADER_BYTES)
    const chunk = (index: number): Buffer =>
      sealed.subarray(HEADER_BYTES + index * PIECE_BYTES, HEADER_BYTES + (index + 1) * PIECE_BYTES)
    for (const order of [[1, 0, 2], [0, 0, 1, 2], [0, 2], [2], [0, 1, 2, 2], [0, 1]]) {
      await refused(open(Buffer.concat([header, ...order.map(chunk)])))
    }
    expect((await open(Buffer.concat([header, chunk(0), chunk(1), chunk(2)]))).length).toBe(CHUNK_BYTES * 3)
  })

  test('opens only with its own key and context', async () => {
    const sealed = await seal(sample(100))
    await refused(open(sealed, OTHER_KEY))
    await refused(open(sealed, KEY, 'org_b\nsession\nevidence_1'))
    const other = await collect(sealStream(KEY, pieces(sample(100), 50), CONTEXT))
    await refused(open(Buffer.concat([sealed.subarray(0, HEADER_BYTES), other.subarray(HEADER_BYTES)])))
  })

  test('returns no bytes of an invalid chunk', async () => {
    const sealed = await seal(sample(CHUNK_BYTES * 2))
    sealed[HEADER_BYTES + PIECE_BYTES + 5]! ^= 1
    const stream = openStream(KEY, pieces(sealed, 1_000), CONTEXT)
    expect((await stream.next()).value?.length).toBe(CHUNK_BYTES)
    await refused(stream.next())
  })

  test('releases its source if its reader stops', async () => {
    const sealed = await seal(sample(CHUNK_BYTES * 3))
    let left = false
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield* pieces(sealed, 20_000)
      } finally {
        left = true
      }
    }
    const stream = openStream(KEY, source(), CONTEXT)
    await stream.next()
    await stream.return(undefined)
    expect(left).toBe(true)
  })
})
