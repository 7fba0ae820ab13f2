// List files of every format, valid and invalid, read in pieces.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { addressOfKey } from '../../../src/domain/address-key.ts'
import type { ListFormat } from '../../../src/domain/list.ts'
import { ListFileInvalidError, type ListReading, readList } from '../../../src/facts/lists/read-list.ts'

const DATA = join(import.meta.dir, '..', '..', 'data')

async function* inPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

const read = (bytes: Uint8Array, format: ListFormat, length = 1_000): Promise<ListReading> =>
  readList(inPieces(bytes, length), format)

const entriesOf = async ({ entries }: ListReading): Promise<Record<string, string>> => {
  const found: Record<string, string> = {}
  for await (const { width, keys, notes } of entries.chunks({ author: 'a', addedAtSeconds: 0 })) {
    for (const [index, { memo }] of notes.entries()) {
      found[addressOfKey(keys.slice(index * width, (index + 1) * width))] = memo
    }
  }
  return found
}

const problemOf = async (bytes: Uint8Array, format: ListFormat): Promise<string> => {
  const error = await read(bytes, format).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ListFileInvalidError)
  return (error as ListFileInvalidError).detail
}

describe('published lists of sanctioned addresses', () => {
  const COUNTS: Readonly<Record<string, number>> = { ARB: 1, BSC: 1, ETH: 152, USDC: 2, USDT: 8 }

  test('are read completely, in any case', async () => {
    const files = readdirSync(join(DATA, 'ofac')).filter((name) => name.endsWith('.txt'))
    expect(files).toHaveLength(Object.keys(COUNTS).length)
    for (const file of files) {
      const bytes = readFileSync(join(DATA, 'ofac', file))
      const reading = await read(bytes, 'text', 17)
      const asset = /_([A-Z]+)\.txt$/.exec(file)?.[1] ?? ''
      expect([file, reading.entries.added, reading.badLineCount]).toEqual([file, COUNTS[asset] ?? -1, 0])
      // Tether also has addresses on Bitcoin and TRON.
      expect(Object.fromEntries(reading.skipped)).toEqual(asset === 'USDT' ? { XBT: 7, TRX: 11 } : {})
      const published = bytes.toString().toLowerCase().trim().split('\n')
      const evm = new Set(published.filter((line) => line.startsWith('0x')))
      expect(Object.keys(await entriesOf(reading))).toEqual([...evm].sort())
      expect([reading.sha256, reading.bytes]).toEqual([createHash('sha256').update(bytes).digest('hex'), bytes.length])
    }
  })
})

describe('sdn_advanced.xml', () => {
  const sample = readFileSync(join(DATA, 'sdn_advanced_sample.xml'))
  const EXPECTED = {
    '0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa': 'ETH, SDN 90002',
    '0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb': 'USDT, SDN 90002',
    So11111111111111111111111111111111111111112: 'SOL, SDN 90002',
  }

  test.each([1, 13, 100_000])(
    'yields its addresses, and counts those of unsupported chains; pieces of %d',
    async (length) => {
      const reading = await read(sample, 'sdn-advanced', length)
      expect(await entriesOf(reading)).toEqual(EXPECTED)
      expect(reading.entries.added).toBe(4)
      expect([...reading.skipped]).toEqual([['XBT', 1]])
    },
  )

  test('is read in constant memory: twenty thousand parties', async () => {
    const [head = '', tail = ''] = sample.toString().split('  <DistinctParties>\n')
    const [parties = '', end = ''] = tail.split('  </DistinctParties>')
    async function* long(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`${head}<DistinctParties>`)
      for (let count = 0; count < 10_000; count++) yield Buffer.from(parties)
      yield Buffer.from(`</DistinctParties>${end}`)
    }
    const reading = await readList(long(), 'sdn-advanced')
    expect(reading.bytes).toBeGreaterThan(30_000_000)
    expect(reading.entries.added).toBe(40_000)
    expect(await entriesOf(reading)).toEqual(EXPECTED)
  })

  const text = sample.toString()
  const END = 'unexpected end of the document'
  const NONE = 'the file has no digital currency addresses'
  test.each<[string, string, string]>([
    ['without its last bytes', text.slice(0, -20), END],
    ['cut in half', text.slice(0, text.length / 2), END],
    ['without digital currencies', text.replaceAll('Digital Currency', 'Postal'), NONE],
    ['as an HTML page', '<html><body>maintenance</body></html>', NONE],
    ['as a text', '0x1111111111111111111111111111111111111111\n', END],
  ])('is refused %s', async (_name, content, problem) => {
    expect(await problemOf(Buffer.from(content), 'sdn-advanced')).toBe(problem)
  })
})

test.each<[ListFormat, number[]]>([
  ['text', [0xff, 0xfe, 0x41, 0x00]],
  ['csv', [0xc3]],
])('%s other than UTF-8 is refused', async (format, bytes) => {
  expect(await problemOf(Uint8Array.from(bytes), format)).toBe('the file is not UTF-8 text')
})

test('all bad lines are counted, and the first hundred are kept', async () => {
  const reading = await read(Buffer.from('nonsense\n'.repeat(1_000)), 'text')
  expect([reading.badLineCount, reading.badLines.length, reading.badLines[0]?.line]).toEqual([1_000, 100, 1])
})
