// The entry sink: sorted unique entries in chunks of bounded size.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addressKey, addressOfKey } from '../../../src/domain/address-key.ts'
import type { ListChunk } from '../../../src/domain/list.ts'
import { createEntrySink } from '../../../src/facts/lists/entry-sink.ts'

const STAMP = { author: 'alice', addedAtSeconds: 7 }

const drain = async (chunks: AsyncIterable<ListChunk>) => {
  const entries: { address: string; memo: string }[] = []
  const sizes: number[] = []
  for await (const { width, keys, notes } of chunks) {
    sizes.push(notes.length)
    expect(keys.length).toBe(width * notes.length)
    for (const [index, note] of notes.entries()) {
      expect(note).toMatchObject(STAMP)
      entries.push({ address: addressOfKey(keys.slice(index * width, (index + 1) * width)), memo: note.memo })
    }
  }
  return { entries, sizes }
}

/** Addresses of which many share their first bytes. */
const address = fc
  .tuple(fc.constantFrom<20 | 32>(20, 32), fc.constantFrom(0, 9, 255), fc.nat(3), fc.nat(255))
  .map(([width, fill, at, byte]) => {
    const key = new Uint8Array(width).fill(fill)
    key[at * 6] = byte
    return addressOfKey(key)
  })

describe('the entries', () => {
  test('with the same address are one', async () => {
    const sink = createEntrySink()
    for (const memo of ['first', 'second', '']) sink.add(`0x${'ab'.repeat(20)}`, memo)
    expect((await drain(sink.chunks(STAMP))).entries).toEqual([{ address: `0x${'ab'.repeat(20)}`, memo: 'second' }])
  })

  test('are sorted and unique, with the last memo that is not empty', async () => {
    const additions = fc.array(fc.tuple(address, fc.constantFrom('', 'x', 'y')), { maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(additions, async (added) => {
        const sink = createEntrySink()
        const expected = new Map<string, string>()
        for (const [text, memo] of added) {
          sink.add(text, memo)
          expected.set(text, memo === '' ? (expected.get(text) ?? '') : memo)
        }
        const { entries } = await drain(sink.chunks(STAMP))
        expect(sink.added).toBe(added.length)
        expect(new Map(entries.map(({ address: text, memo }) => [text, memo]))).toEqual(expected)
        const keys = entries.map(({ address: text }) => addressKey(text))
        expect(keys).toEqual(keys.toSorted((a, b) => a.length - b.length || Buffer.compare(a, b)))
      }),
    )
  })

  test('are in chunks of bounded size and one width', async () => {
    const sink = createEntrySink()
    for (let index = 0; index < 10_000; index++) {
      const key = new Uint8Array(20)
      new DataView(key.buffer).setUint32(8, index)
      sink.add(addressOfKey(key), '')
    }
    sink.add(addressOfKey(new Uint8Array(32).fill(3)), 'solana')
    const { entries, sizes } = await drain(sink.chunks(STAMP))
    expect(sizes).toEqual([4096, 4096, 1808, 1])
    expect(entries.at(-1)?.memo).toBe('solana')
  })

  test('have at most 64 MiB of memos', () => {
    const sink = createEntrySink()
    const memo = 'é'.repeat(200)
    for (let count = 0; count < 2 ** 26 / 400 - 1; count++) sink.add(`0x${'ab'.repeat(20)}`, memo)
    expect(() => sink.add(`0x${'ab'.repeat(20)}`, memo)).toThrow('the memos of the list have more than 67108864 bytes')
  })

  test('do not keep the file in memory', () => {
    const sink = createEntrySink()
    const heapUsed = (): number => {
      Bun.gc(true)
      return process.memoryUsage().heapUsed
    }
    const before = heapUsed()
    for (let piece = 0; piece < 500; piece++) {
      sink.add(`0x${'ab'.repeat(20)}`, Buffer.alloc(65_536, `${piece} é`).toString('utf8').slice(0, 20))
    }
    expect(heapUsed() - before).toBeLessThan(8 * 2 ** 20)
    expect(sink.added).toBe(500)
  })

  test('can be absent', async () => expect((await drain(createEntrySink().chunks(STAMP))).sizes).toEqual([]))
})
