// Changes merged into the chunks of a list: equal to a merge of all entries, and few chunks are rewritten.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addressKey, hexOfKey } from '../../../src/domain/address-key.ts'
import { LIST_CHUNK_KEYS, type ListChunk } from '../../../src/domain/list.ts'
import { type ListChange, mergeChunks } from '../../../src/facts/lists/merge-chunks.ts'
import { evm, SOLANA } from './stored-lists.ts'

const STAMP = { author: 'alice', addedAtSeconds: 1 }

const chunk = (addresses: readonly string[], memo = ''): ListChunk => {
  const keys = addresses.map((address) => addressKey(address))
  const width = keys[0]?.length === 32 ? 32 : 20
  return { width, keys: Buffer.concat(keys), notes: keys.map(() => ({ ...STAMP, memo })) }
}
/** Numbers of addresses with a distance of two, so that other addresses fit between them. */
const full = (from: number): number[] => Array.from({ length: LIST_CHUNK_KEYS }, (_, index) => from + 2 * index)

const change = (address: string, present = true, memo = 'new'): ListChange => {
  return { key: addressKey(address), ...STAMP, memo, present }
}

async function* streamOf<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items
}

const merged = (base: readonly ListChunk[], changes: readonly ListChange[]): Promise<ListChunk[]> =>
  Array.fromAsync(mergeChunks(streamOf(base), streamOf(changes)))

const contentOf = (chunks: readonly ListChunk[]): string[] =>
  chunks.flatMap(({ width, keys, notes }) =>
    notes.map(({ memo }, index) => `${hexOfKey(keys.subarray(index * width, (index + 1) * width))} ${memo}`),
  )
const sizesOf = (chunks: readonly ListChunk[]): number[] => chunks.map(({ keys, width }) => keys.length / width)

describe('changes of a list', () => {
  test('yield the same result as a merge of all entries', async () => {
    const numbers = fc.uniqueArray(fc.nat(60), { minLength: 1 })
    const changes = fc.uniqueArray(fc.nat(70))
    await fc.assert(
      fc.asyncProperty(numbers, fc.nat(5), fc.boolean(), changes, async (base, per, hasSolana, changed) => {
        const sorted = base.toSorted((a, b) => a - b).map(evm)
        const chunks: ListChunk[] = []
        for (let at = 0; at < sorted.length; at += per + 1) chunks.push(chunk(sorted.slice(at, at + per + 1)))
        if (hasSolana) chunks.push(chunk([SOLANA]))
        const isPresent = (number: number) => number % 3 !== 0
        const inOrder = changed.toSorted((a, b) => a - b)
        const expected = new Map<number, string>(base.map((number) => [number, '']))
        for (const number of changed) {
          if (isPresent(number)) expected.set(number, 'new')
          else expected.delete(number)
        }
        const result = await merged(
          chunks,
          inOrder.map((number) => change(evm(number), isPresent(number))),
        )
        expect(contentOf(result)).toEqual([
          ...[...expected].toSorted(([a], [b]) => a - b).map(([number, memo]) => `${evm(number).slice(2)} ${memo}`),
          ...(hasSolana ? [`${hexOfKey(addressKey(SOLANA))} `] : []),
        ])
      }),
    )
  })

  test('do not read unchanged chunks, and split a full chunk into halves', async () => {
    const unread = (numbers: readonly number[]): ListChunk => {
      const { width, keys } = chunk(numbers.map(evm))
      const notes = { get: () => expect.unreachable() }
      return Object.defineProperty({ width, keys }, 'notes', notes) as ListChunk
    }
    const [first, second, third] = [unread(full(0)), chunk(full(10_000).map(evm)), unread(full(20_000))]
    const result = await merged([first, second, third], [change(evm(10_001))])
    expect([result[0], result[3]]).toEqual([first, third])
    expect(sizesOf(result.slice(1, 3))).toEqual([2_049, 2_048])
    expect(contentOf(result.slice(1, 2)).slice(0, 3)).toEqual([
      `${evm(10_000).slice(2)} `,
      `${evm(10_001).slice(2)} new`,
      `${evm(10_002).slice(2)} `,
    ])
  })

  test('keep the chunks large after additions and removals', async () => {
    const base = [chunk(full(0).map(evm)), chunk(full(10_000).map(evm)), chunk(full(20_000).map(evm))]
    const removed = full(10_000).slice(1)
    const removals = removed.map((number) => change(evm(number), false))
    const fewer = await merged(base, removals)
    expect(sizesOf(fewer)).toEqual([4_096, 2_049, 2_048])
    let chunks = base
    // Each address is added at the end.
    for (let round = 0; round < 3; round++) chunks = await merged(chunks, [change(evm(50_000 + round))])
    expect(sizesOf(chunks)).toEqual([4_096, 4_096, 2_049, 2_050])
    const many = full(0).map((number) => change(evm(number + 1)))
    expect(sizesOf(await merged([], [...many]))).toEqual([4_096])
    expect(sizesOf(await merged(base.slice(0, 1), many))).toEqual([4_096, 4_096])
  })
})
