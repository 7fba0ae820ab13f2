// EVM call data, compared with viem and with the calls that Solidity's decoder rejects.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type AbiParameter, encodeAbiParameters, encodeFunctionData, type Hex, toFunctionSelector } from 'viem'
import { abiSelector, abiSignature, parseAbiFragment } from '../../src/policy/calls/abi-fragment.ts'
import { createCallTable } from '../../src/policy/calls/call-table.ts'
import { UnreadableValue } from '../../src/policy/calls/decoding.ts'
import { finish } from '../../src/policy/cel/steps.ts'
import type { AbiParameterItem } from '../../src/policy/types/reads.ts'
import { AddressValue, Uint256 } from '../../src/policy/values.ts'
import { thrownBy } from './support.ts'

const tableOf = (inputs: readonly AbiParameterItem[]) => {
  const item = { type: 'function', name: 'f', stateMutability: 'view', inputs, outputs: [] } as const
  const complaints: string[] = []
  const table = finish(createCallTable([{ item, complain: (message) => complaints.push(message) }], null))
  if (table === null || complaints.length > 0) throw new Error(complaints.join('; '))
  return { table, selector: abiSelector(abiSignature(item)) }
}

/** Decodes `words` (hex digits) as the arguments of a function of these types; null if they are refused. */
const decode = (types: readonly (string | AbiParameterItem)[], words: string): readonly unknown[] | null => {
  const inputs = types.map((type, i) => (typeof type === 'string' ? { name: `a${i}`, type } : type))
  const { table, selector } = tableOf(inputs)
  return table.decode('evm', `0x${selector}${words}`)?.values ?? null
}

/** A value of the policy language in viem's representation. */
const plain = (value: unknown): unknown => {
  if (value instanceof Uint256) return value.value
  if (value instanceof AddressValue) return value.text
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]))
  }
  return value
}

/** A parameter, its value for viem, and the decoded value in viem's representation. */
interface Case {
  readonly parameter: AbiParameterItem
  readonly value: unknown
  readonly expected: unknown
}

const hexOf = (length: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => `0x${bytes.toHex()}`)
const same = (type: string, values: fc.Arbitrary<unknown>): fc.Arbitrary<Case> =>
  values.map((value) => ({ parameter: { name: '', type }, value, expected: value }))

const bits = fc.integer({ min: 1, max: 32 }).map((bytes) => bytes * 8)
const number = (type: string, size: number, min: bigint, max: bigint): fc.Arbitrary<Case> =>
  fc.bigInt({ min, max }).map((expected) => {
    // viem takes numbers for up to 48 bits.
    return {
      parameter: { name: '', type: `${type}${size}` },
      value: size <= 48 ? Number(expected) : expected,
      expected,
    }
  })
const elementary: fc.Arbitrary<Case> = fc.oneof(
  bits.chain((size) => number('uint', size, 0n, 2n ** BigInt(size) - 1n)),
  bits.chain((size) => {
    const limit = 2n ** BigInt(Math.min(size, 64) - 1)
    return number('int', size, -limit, limit - 1n)
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
    // Members of an array have one type; copies of one value are enough.
    fc.tuple(tie('any'), fc.integer({ min: 0, max: 4 }), fc.boolean()).map(([member, count, isFixed]): Case => {
      const length = isFixed ? Math.max(count, 1) : count
      const type = `${member.parameter.type}[${isFixed ? length : ''}]`
      const copies = (value: unknown) => Array(length).fill(value)
      return {
        parameter: { ...member.parameter, type },
        value: copies(member.value),
        expected: copies(member.expected),
      }
    }),
    fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((members): Case => {
      const named = (field: keyof Case) => Object.fromEntries(members.map((member, i) => [`m${i}`, member[field]]))
      const components = members.map(({ parameter }, i) => ({ ...parameter, name: `m${i}` }))
      return { parameter: { name: '', type: 'tuple', components }, value: named('value'), expected: named('expected') }
    }),
  ),
}))
const cases = fc.array(any, { minLength: 1, maxLength: 4 })

const encoded = (all: readonly Case[]): { inputs: AbiParameterItem[]; words: string } => {
  const inputs = all.map(({ parameter }, i) => ({ ...parameter, name: `a${i}` }))
  const values = all.map(({ value }) => value)
  return { inputs, words: encodeAbiParameters(inputs as AbiParameter[], values as never).slice(2) }
}

test('data encoded by viem is decoded to the same values', () => {
  fc.assert(
    fc.property(cases, (all) => {
      const { inputs, words } = encoded(all)
      expect(decode(inputs, words)?.map(plain)).toEqual(all.map(({ expected }) => expected))
      // Bytes after the arguments and the case of hex digits are ignored.
      expect(decode(inputs, `${words.toUpperCase()}ffff`)?.map(plain)).toEqual(all.map(({ expected }) => expected))
    }),
    { numRuns: 500 },
  )
})

test('damaged data is decoded or refused, and remains a call to the same function', () => {
  fc.assert(
    fc.property(cases, fc.nat(), hexOf(3), fc.nat(), (all, at, garbage, cut) => {
      const { inputs, words } = encoded(all)
      const index = at % (words.length + 1)
      const damaged = words.slice(0, index) + garbage.slice(2) + words.slice(index + 6)
      const { table, selector } = tableOf(inputs)
      expect(table.decode('evm', `0x${selector}${damaged}`)?.name).toBe('f')
      const shorter = decode(inputs, words.slice(0, (cut % (words.length / 2 + 1)) * 2))
      // The padding after the last bytes is ignored.
      if (shorter !== null) expect(shorter.map(plain)).toEqual(all.map(({ expected }) => expected))
    }),
    { numRuns: 500 },
  )
})

const word = (hex: string): string => hex.padStart(64, '0')
const words = (...hex: string[]): string => hex.map(word).join('')

describe('data that Solidity rejects has no arguments', () => {
  test.each([
    ['an address with more than 20 bytes', ['address'], word(`1${'ab'.repeat(20)}`)],
    ['a uint8 over 255', ['uint8'], word('100')],
    ['a uint248 over its maximum', ['uint248'], `01${'00'.repeat(31)}`],
    ['an int8 over its maximum', ['int8'], word('80')],
    ['an int8 under its minimum', ['int8'], `${'f'.repeat(62)}7f`],
    ['a bool of 2', ['bool'], word('2')],
    ['a bool of 10', ['bool'], word('10')],
    ['bytes4 with more bytes', ['bytes4'], `deadbeef01${'0'.repeat(54)}`],
    ['half a word', ['uint256'], '00'.repeat(31)],
    ['empty data', ['uint256'], ''],
    ['an offset past the end', ['bytes'], words('40', '0')],
    ['an offset beyond any data', ['bytes'], 'f'.repeat(64)],
    ['a length past the end', ['bytes'], `${words('20', '2')}aa`],
    ['a length beyond any data', ['uint256[]'], word('20') + 'f'.repeat(64)],
    ['an array that ends early', ['uint256[]'], words('20', '2', '1')],
    ['a long array that ends early', ['uint256[]'], words('20', '1000', '1')],
  ] as const)('%s', (_name, types, data) => expect(decode(types, data)).toBeNull())
})

test.each([
  ['overlapping offsets and missing padding', ['bytes', 'bytes'], `${words('40', '40', '1')}aa`, ['0xaa', '0xaa']],
  ['a negative int8', ['int8'], 'f'.repeat(64), [-1n]],
  ['a function pointer', ['function'], `${'ab'.repeat(24)}${'00'.repeat(8)}`, [`0x${'ab'.repeat(24)}`]],
])('%s: decoded', (_name, types, data, expected) => expect(decode(types, data)?.map(plain)).toEqual(expected))

describe('a value that exceeds the policy language', () => {
  test.each([
    ['array', ['uint256[]', 'uint8'], words('40', '5', '101') + word('7').repeat(257), 5n],
    ['text', ['bytes', 'bool'], words('40', '1', '1000') + 'aa'.repeat(4096), true],
    ['int', ['int256', 'bool'], `7${'f'.repeat(63)}${word('1')}`, true],
  ])('does not affect other arguments: %s', (_name, types, data, other) => {
    const values = decode(types, data)
    expect(values?.[0]).toBeInstanceOf(UnreadableValue)
    expect(plain(values?.[1])).toBe(other)
  })

  test('has more than 256 members or more than 64 bits', () => {
    expect(decode(['uint256[]'], words('20', '100') + word('7').repeat(256))?.[0]).toHaveLength(256)
    expect(decode(['int256'], word('7fffffffffffffff'))?.[0]).toBe(2n ** 63n - 1n)
  })

  test('prevents decoding if it has several thousand members', () => {
    // 256 offsets to one array of 256: 65,536 values in 16 KiB.
    const inner = word('100') + word('1').repeat(256)
    expect(decode(['uint256[][]'], words('20', '100') + word((256 * 32).toString(16)).repeat(256) + inner)).toBeNull()
  })
})

describe('fragments', () => {
  test.each([
    ['function transfer(address to, uint256 amount) returns (bool)', 'transfer(address,uint256)'],
    ['transfer(address,uint)', 'transfer(address,uint256)'],
    ['  function  f ( ) external view returns ( uint256 ) ; ', 'f()'],
    ['function f(int[] calldata a, bytes memory b) public payable', 'f(int256[],bytes)'],
    ['function f((address a, uint256[2][] b) order, tuple(bool x)[3] y)', 'f((address,uint256[2][]),(bool)[3])'],
    ['function f(address payable to)', 'f(address)'],
  ])('%s', (fragment, signature) => {
    expect(abiSignature(parseAbiFragment(fragment))).toBe(signature)
    expect(`0x${abiSelector(signature)}`).toBe(toFunctionSelector(`function ${signature}`))
  })

  test('keep names, mutability and results', () => {
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
    expect(thrownBy(() => parseAbiFragment(fragment))).toMatchObject({ index, message })
  })
})

test('a table distinguishes functions by their selectors', () => {
  const abi = ['transfer(address to, uint256 amount)', 'approve(address spender, uint256 amount)'].map(parseAbiFragment)
  const table = finish(
    createCallTable(
      abi.map((item) => ({ item, complain: () => undefined })),
      null,
    ),
  )
  const data = (functionName: 'transfer' | 'approve'): Hex =>
    encodeFunctionData({ abi, functionName, args: ['0x00000000000000000000000000000000DeaDBeef', 5n] } as never)
  const signature = 'transfer(address,uint256)'
  expect(table?.decode('evm', data('transfer'))).toMatchObject({ name: 'transfer', signature })
  expect(table?.decode('evm', data('approve'))?.name).toBe('approve')
  expect(table?.decode('evm', data('approve').slice(0, -2))).toMatchObject({ name: 'approve', values: null })
  expect(table?.decode('evm', '0x')).toBeNull()
  expect(table?.decode('evm', '0xa9059c')).toBeNull()
  // The same bytes are a different call on Solana.
  expect(table?.decode('solana', data('transfer'))).toBeNull()
})
