// EVM call data against viem, which is the oracle, and against what Solidity's own decoder refuses.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type AbiParameter, encodeAbiParameters, encodeFunctionData, type Hex, toFunctionSelector } from 'viem'
import { abiSelector, abiSignature, parseAbiFragment } from '../../src/policy/calls/abi-fragment.ts'
import { createCallTable } from '../../src/policy/calls/call-table.ts'
import { UnreadableValue } from '../../src/policy/calls/decoding.ts'
import { finish } from '../../src/policy/cel/steps.ts'
import type { AbiParameterItem } from '../../src/policy/types/reads.ts'
import { AddressValue, Uint256 } from '../../src/policy/values.ts'

const tableOf = (inputs: readonly AbiParameterItem[]) => {
  const item = { type: 'function', name: 'f', stateMutability: 'view', inputs, outputs: [] } as const
  const complaints: string[] = []
  const table = finish(createCallTable([{ item, complain: (message) => complaints.push(message) }], null))
  if (table === null || complaints.length > 0) throw new Error(complaints.join('; '))
  return { table, selector: abiSelector(abiSignature(item)) }
}

/** Decodes `words` (hex digits) as the arguments of a function of these types; null when it is refused. */
const decode = (types: readonly (string | AbiParameterItem)[], words: string): readonly unknown[] | null => {
  const inputs = types.map((type, i) => (typeof type === 'string' ? { name: `a${i}`, type } : type))
  const { table, selector } = tableOf(inputs)
  return table.decode('evm', `0x${selector}${words}`)?.values ?? null
}

/** The policy language's value as viem has it. */
const plain = (value: unknown): unknown => {
  if (value instanceof Uint256) return value.value
  if (value instanceof AddressValue) return value.text
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]))
  }
  return value
}

interface Case {
  readonly parameter: AbiParameterItem
  /** For viem. */
  readonly value: unknown
  /** As plain() shows what was decoded. */
  readonly expected: unknown
}

const hexOf = (length: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => `0x${bytes.toHex()}`)
const same = (type: string, values: fc.Arbitrary<unknown>): fc.Arbitrary<Case> =>
  values.map((value) => ({ parameter: { name: '', type }, value, expected: value }))

const bits = fc.integer({ min: 1, max: 32 }).map((bytes) => bytes * 8)
/** viem takes and yields numbers for up to 48 bits. */
const forViem = (size: number, value: bigint): unknown => (size <= 48 ? Number(value) : value)
const elementary: fc.Arbitrary<Case> = fc.oneof(
  bits.chain((size) =>
    fc
      .bigInt({ min: 0n, max: 2n ** BigInt(size) - 1n })
      .map((value) => ({ parameter: { name: '', type: `uint${size}` }, value: forViem(size, value), expected: value })),
  ),
  bits.chain((size) => {
    const limit = 2n ** BigInt(Math.min(size, 64) - 1)
    return fc
      .bigInt({ min: -limit, max: limit - 1n })
      .map((value) => ({ parameter: { name: '', type: `int${size}` }, value: forViem(size, value), expected: value }))
  }),
  same('bool', fc.boolean()),
  same('address', hexOf(20)),
  fc.integer({ min: 1, max: 32 }).chain((length) => same(`bytes${length}`, hexOf(length))),
  same('bytes', fc.integer({ min: 0, max: 70 }).chain(hexOf)),
  same('string', fc.string({ unit: 'grapheme', maxLength: 40 })),
)

const { any } = fc.letrec<{ any: Case }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    elementary,
    // Members of an array are of one type: the same value several times is enough.
    fc.tuple(tie('any'), fc.integer({ min: 0, max: 4 }), fc.boolean()).map(([member, count, isFixed]): Case => {
      const length = isFixed ? Math.max(count, 1) : count
      const suffix = isFixed ? `[${length}]` : '[]'
      return {
        parameter: { ...member.parameter, type: `${member.parameter.type}${suffix}` },
        value: Array(length).fill(member.value),
        expected: Array(length).fill(member.expected),
      }
    }),
    fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map(
      (members): Case => ({
        parameter: {
          name: '',
          type: 'tuple',
          components: members.map(({ parameter }, i) => ({ ...parameter, name: `m${i}` })),
        },
        value: Object.fromEntries(members.map(({ value }, i) => [`m${i}`, value])),
        expected: Object.fromEntries(members.map(({ expected }, i) => [`m${i}`, expected])),
      }),
    ),
  ),
}))
const cases = fc.array(any, { minLength: 1, maxLength: 4 })

const encoded = (all: readonly Case[]): { inputs: AbiParameterItem[]; words: string } => {
  const inputs = all.map(({ parameter }, i) => ({ ...parameter, name: `a${i}` }))
  const values = all.map(({ value }) => value)
  return { inputs, words: encodeAbiParameters(inputs as AbiParameter[], values as never).slice(2) }
}

test('whatever viem encodes is decoded to the same values', () => {
  fc.assert(
    fc.property(cases, (all) => {
      const { inputs, words } = encoded(all)
      expect(decode(inputs, words)?.map(plain)).toEqual(all.map(({ expected }) => expected))
      // What follows the arguments is not theirs, and the case of hex digits means nothing.
      expect(decode(inputs, `${words.toUpperCase()}ffff`)?.map(plain)).toEqual(all.map(({ expected }) => expected))
    }),
    { numRuns: 500 },
  )
})

test('damaged data is decoded or refused, and always a call to its function', () => {
  fc.assert(
    fc.property(cases, fc.nat(), hexOf(3), fc.nat(), (all, at, garbage, cut) => {
      const { inputs, words } = encoded(all)
      const index = at % (words.length + 1)
      const damaged = words.slice(0, index) + garbage.slice(2) + words.slice(index + 6)
      const { table, selector } = tableOf(inputs)
      expect(table.decode('evm', `0x${selector}${damaged}`)?.name).toBe('f')
      const shorter = decode(inputs, words.slice(0, (cut % (words.length / 2 + 1)) * 2))
      // The padding behind the last bytes is not read.
      if (shorter !== null) expect(shorter.map(plain)).toEqual(all.map(({ expected }) => expected))
    }),
    { numRuns: 500 },
  )
})

const word = (hex: string): string => hex.padStart(64, '0')

describe('what Solidity would revert on has no arguments', () => {
  test.each([
    ['an address with more than 20 bytes', ['address'], word(`1${'ab'.repeat(20)}`)],
    ['a uint8 over 255', ['uint8'], word('100')],
    ['a uint248 that is larger', ['uint248'], `01${'00'.repeat(31)}`],
    ['an int8 that is larger', ['int8'], word('80')],
    ['an int8 that is smaller', ['int8'], `${'f'.repeat(62)}7f`],
    ['a bool of 2', ['bool'], word('2')],
    ['a bool of 10', ['bool'], word('10')],
    ['bytes4 with more bytes', ['bytes4'], `deadbeef01${'0'.repeat(54)}`],
    ['half a word', ['uint256'], '00'.repeat(31)],
    ['nothing', ['uint256'], ''],
    ['an offset past the end', ['bytes'], word('40') + word('0')],
    ['an offset beyond any data', ['bytes'], 'f'.repeat(64)],
    ['a length past the end', ['bytes'], `${word('20') + word('2')}aa`],
    ['a length beyond any data', ['uint256[]'], word('20') + 'f'.repeat(64)],
    ['an array that ends early', ['uint256[]'], word('20') + word('2') + word('1')],
    ['a long array that ends early', ['uint256[]'], word('20') + word('1000') + word('1')],
  ] as const)('%s', (_name, types, words) => {
    expect(decode(types, words)).toBeNull()
  })

  test('unless it only looks odd', () => {
    // Offsets may be in any order and overlap; padding is not looked at.
    expect(decode(['bytes', 'bytes'], `${word('40') + word('40') + word('1')}aa`)?.map(plain)).toEqual(['0xaa', '0xaa'])
    expect(decode(['int8'], 'f'.repeat(64))).toEqual([-1n])
    expect(decode(['function'], `${'ab'.repeat(24)}${'00'.repeat(8)}`)).toEqual([`0x${'ab'.repeat(24)}`])
  })
})

describe('what a policy can not hold', () => {
  test('does not keep it from reading the rest', () => {
    const long = decode(['uint256[]', 'uint8'], word('40') + word('5') + word('101') + word('7').repeat(257))
    expect(long?.[0]).toBeInstanceOf(UnreadableValue)
    expect(plain(long?.[1])).toBe(5n)
    expect(decode(['uint256[]'], word('20') + word('100') + word('7').repeat(256))?.[0]).toHaveLength(256)
    const text = decode(['bytes', 'bool'], word('40') + word('1') + word('1000') + 'aa'.repeat(4096))
    expect(text?.[0]).toBeInstanceOf(UnreadableValue)
    expect(text?.[1]).toBe(true)
    expect(decode(['int256'], `7${'f'.repeat(63)}`)?.[0]).toBeInstanceOf(UnreadableValue)
    expect(decode(['int256'], word('7fffffffffffffff'))?.[0]).toBe(2n ** 63n - 1n)
  })

  test('is not decoded when it is more than a few thousand values in all', () => {
    // 256 offsets to one array of 256: 65,536 values out of 16 KiB.
    const inner = word('100') + word('1').repeat(256)
    const bomb = word('20') + word('100') + word((256 * 32).toString(16)).repeat(256) + inner
    expect(decode(['uint256[][]'], bomb)).toBeNull()
  })
})

describe('fragments', () => {
  test.each([
    ['function transfer(address to, uint256 amount) returns (bool)', 'transfer(address,uint256)'],
    ['transfer(address,uint)', 'transfer(address,uint256)'],
    ['  function  f ( ) external view returns ( uint256 ) ; ', 'f()'],
    ['function f(int[] calldata a, bytes memory b) public payable', 'f(int256[],bytes)'],
    [
      'function f((address maker, uint256[2][] amounts) order, tuple(bool x)[3] y)',
      'f((address,uint256[2][]),(bool)[3])',
    ],
    ['function f(address payable to)', 'f(address)'],
  ])('%s', (fragment, signature) => {
    const item = parseAbiFragment(fragment)
    expect(abiSignature(item)).toBe(signature)
    expect(`0x${abiSelector(signature)}`).toBe(toFunctionSelector(`function ${signature}`))
  })

  test('names, mutability and results are kept', () => {
    expect(parseAbiFragment('function tierOf(address who) view returns (uint8 tier)')).toEqual({
      type: 'function',
      name: 'tierOf',
      stateMutability: 'view',
      inputs: [{ name: 'who', type: 'address' }],
      outputs: [{ name: 'tier', type: 'uint8' }],
    })
  })

  test.each([
    ['', 0, 'expected a function name'],
    ['function', 8, 'expected a function name'],
    ['function f', 10, 'expected "("'],
    ['function f(', 11, 'expected a type'],
    ['function f(address to', 21, 'expected ")"'],
    ['function f(address to uint256)', 22, 'expected ")"'],
    ['function f(address) returns', 27, 'expected "("'],
    ['function f(address) nothing', 20, 'unexpected text after the function'],
    ['function f(address[0] a)', 19, 'an array length must be a number from 1 to 9999'],
    ['function f(address to) // c', 23, 'unexpected character "/"'],
    ['event Transfer(address to)', 6, 'expected "("'],
    ['function 1f()', 9, 'expected a function name'],
  ])('%p is refused', (fragment, index, message) => {
    let error: unknown
    try {
      parseAbiFragment(fragment)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ index, message })
  })
})

test('one table tells functions apart by their selectors', () => {
  const items = ['function transfer(address to, uint256 amount)', 'function approve(address spender, uint256 amount)']
  const table = finish(
    createCallTable(
      items.map((text) => ({ item: parseAbiFragment(text), complain: () => undefined })),
      null,
    ),
  )
  const data = (functionName: 'transfer' | 'approve'): Hex =>
    encodeFunctionData({
      abi: items.map(parseAbiFragment),
      functionName,
      args: ['0x00000000000000000000000000000000DeaDBeef', 5n],
    } as never)
  expect(table?.decode('evm', data('transfer'))).toMatchObject({
    name: 'transfer',
    signature: 'transfer(address,uint256)',
  })
  expect(table?.decode('evm', data('approve'))?.name).toBe('approve')
  expect(table?.decode('evm', data('approve').slice(0, -2))).toMatchObject({ name: 'approve', values: null })
  expect(table?.decode('evm', '0x')).toBeNull()
  expect(table?.decode('evm', '0xa9059c')).toBeNull()
  // The same bytes mean something else on another chain.
  expect(table?.decode('solana', data('transfer'))).toBeNull()
})
