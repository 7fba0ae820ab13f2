// The addresses of a list page by page, and by how they begin: pages put together are what a plain filter of all its
// addresses gives, whether they were written whole or one by one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import bs58 from 'bs58'
import fc from 'fast-check'
import { parseAddressSearch } from '../../src/admin/list-search.ts'
import { addressKey, addressOfKey, parseAnyAddress } from '../../src/domain/address-key.ts'
import { type Harness, startHarness } from './support/harness.ts'

const ENTRIES = '/organizations/alpha/lists/blocked/entries'

let harness: Harness
let alpha: Awaited<ReturnType<Harness['organization']>>

const hash = (text: string): Buffer => createHash('sha256').update(`countersign list test ${text}`).digest()
const evm = (n: number): string => `0x${hash(`evm ${n}`).toString('hex').slice(0, 40)}`
const solana = (n: number): string => {
  const bytes = hash(`solana ${n}`)
  // Some begin with zeros, which base58 writes as ones.
  bytes.fill(0, 0, n % 4)
  return bs58.encode(bytes)
}
const canonical = (text: string): string => {
  const address = parseAnyAddress(text)
  if (address === null) throw new Error(`no address: ${text}`)
  return addressOfKey(addressKey(address))
}

const WHOLE = Array.from({ length: 40 }, (_, n) => [evm(n), solana(n)]).flat()
const SINGLE = [evm(100), solana(100), evm(101)]
const TAKEN_OUT = [evm(3), solana(7)]
const ALL = [...WHOLE, ...SINGLE].filter((address) => !TAKEN_OUT.includes(address)).map(canonical)

interface Entry {
  readonly address: string
  readonly memo: string
  readonly author: string
}

const page = async (query: Readonly<Record<string, string>>) => {
  const response = await harness.request('GET', `${ENTRIES}?${new URLSearchParams(query)}`, { key: alpha.key })
  const body = (await response.json()) as { data: readonly Entry[]; next_cursor: string | null; field?: string }
  return { status: response.status, ...body }
}

const readAll = async (search: string, limit: number): Promise<readonly Entry[]> => {
  const read: Entry[] = []
  let cursor: string | null = null
  do {
    const { data, next_cursor: next } = await page({
      ...{ search, limit: String(limit) },
      ...(cursor === null ? {} : { cursor }),
    })
    expect(data.length).toBeLessThanOrEqual(limit)
    read.push(...data)
    cursor = next
  } while (cursor !== null)
  return read
}

beforeAll(async () => {
  harness = await startHarness()
  alpha = await harness.organization('alpha')
  await harness.store.lists.create({ owner: alpha.id, name: 'blocked' })
  const uploaded = await harness.request('PUT', '/organizations/alpha/lists/blocked/content', {
    key: alpha.key,
    raw: WHOLE.join('\n'),
    headers: { 'content-type': 'text/plain' },
  })
  expect(uploaded.status).toBe(200)
  const edited = await harness.request('POST', ENTRIES, {
    key: alpha.key,
    body: { add: SINGLE.map((address) => ({ address, memo: 'by hand' })), remove: TAKEN_OUT },
  })
  expect(edited.status).toBe(200)
})
afterAll(() => harness.close())

describe('the entries of a list', () => {
  test('come in pages of any size, each once, EVM first', async () => {
    for (const limit of [1, 7, 200]) {
      const read = (await readAll('', limit)).map(({ address }) => canonical(address))
      expect(read.toSorted()).toEqual(ALL.toSorted())
      expect(read.findLastIndex((address) => address.startsWith('0x'))).toBe(
        ALL.filter((address) => address.startsWith('0x')).length - 1,
      )
    }
  })

  test('have who put them there and why', async () => {
    expect((await readAll(evm(100), 10))[0]).toMatchObject({ memo: 'by hand' })
  })

  test('are found by how they begin, in any case of letters on EVM chains', async () => {
    const starts = ['0', '0x', '0xA', evm(5).slice(0, 4).toUpperCase().replace('0X', '0x'), '1', '11', '111', '1111']
    for (const address of [evm(9), solana(9), solana(10), evm(3)]) starts.push(address.slice(0, 3), address)
    for (const start of starts) {
      const wanted = ALL.filter((address) => address.startsWith(start.startsWith('0') ? start.toLowerCase() : start))
      const read = (await readAll(start, 3)).map(({ address }) => canonical(address))
      expect({ start, read: read.toSorted() }).toEqual({ start, read: wanted.toSorted() })
    }
  })

  test('are not looked for by what no address begins with, nor from a cursor of elsewhere', async () => {
    for (const search of ['0xg', '0x'.padEnd(43, '1'), 'l', '%', '1'.repeat(45)]) {
      expect(await page({ search })).toMatchObject({ status: 400, field: 'search' })
    }
    for (const position of [['zz'], ['00'], [1], ['0'.repeat(40), 'x']]) {
      const cursor = Buffer.from(JSON.stringify(position)).toString('base64url')
      expect(await page({ cursor })).toMatchObject({ status: 400, field: 'cursor' })
    }
  })
})

test('an address is in the ranges of each of its beginnings', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.integer({ min: 0, max: 3 }),
      fc.nat(43),
      (bytes, zeros, length) => {
        bytes.fill(0, 0, zeros)
        const address = bs58.encode(bytes)
        const { ranges, matches } = parseAddressSearch(address.slice(0, length + 1))
        expect(matches(address)).toBe(true)
        expect(ranges.some(({ from, to }) => Buffer.compare(from, bytes) <= 0 && Buffer.compare(bytes, to) <= 0)).toBe(
          true,
        )
        for (const [index, { from }] of ranges.entries()) {
          const before = ranges[index - 1]
          if (before !== undefined) expect(Buffer.compare(before.to, from)).toBe(-1)
        }
      },
    ),
  )
})
