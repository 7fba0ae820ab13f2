// The digest of a v2 statement, compared with published vectors and viem.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { StatementInvalidError } from '../../src/signing/errors.ts'
import { loadKeccak256 } from '../../src/signing/statement.ts'
import vectors from '../vectors/evm-v2.json'
import { address, evmStatement } from './arbitraries.ts'
import { referenceStatementDigest } from './reference-encoding.ts'
import { type EvmStatement, statementDigester } from './statements.ts'

const digest = statementDigester(await loadKeccak256())
const digestHex = (statement: EvmStatement): string => `0x${digest(statement).toHex()}`

const plain: EvmStatement = {
  chainId: 1,
  uuid: '658ffaa7-2fe7-402d-8ddb-52e9a310e686',
  from: '0xb7a68c73fe55637c9ff75bc67a6f1af5df7db93c',
  to: '0x4daf89a45564390fba803dc9509ea6732d0b6c42',
  value: 0n,
  data: '0x',
  policy: 'x-abc123def456',
  expirationSeconds: 1_700_000_000,
}

describe('the v2 statement digest', () => {
  test.each(vectors.vectors)('equals the vector on $chain with policy $policy', (vector) => {
    const statement: EvmStatement = {
      chainId: vector.chain_id,
      uuid: vector.uuid,
      from: vector.from,
      to: vector.to,
      value: BigInt(vector.msg_value),
      data: vector.data,
      policy: vector.policy,
      expirationSeconds: vector.expiration,
    }
    expect(digestHex(statement)).toBe(vector.digest)
  })

  test('equals the hash of viem’s encoding, for any sequence of statements', () => {
    fc.assert(
      fc.property(evmStatement, (statement) => {
        expect(digestHex(statement)).toBe(referenceStatementDigest(statement))
      }),
      { numRuns: 500 },
    )
  })

  // In this order, so that short data follows long data.
  test.each<[string, Partial<EvmStatement>]>([
    ['empty data', { data: '0x' }],
    ['one byte', { data: '0xff' }],
    ['31 bytes', { data: `0x${'aa'.repeat(31)}` }],
    ['32 bytes', { data: `0x${'bb'.repeat(32)}` }],
    ['33 bytes', { data: `0x${'cc'.repeat(33)}` }],
    ['64 KiB', { data: `0x${'dd'.repeat(65_536)}` }],
    ['upper-case digits', { data: '0xABCDEF' }],
    [
      'the highest values',
      {
        chainId: Number.MAX_SAFE_INTEGER,
        value: 2n ** 256n - 1n,
        expirationSeconds: Number.MAX_SAFE_INTEGER,
        policy: 'ø'.repeat(5_000),
      },
    ],
    ['the lowest values', { chainId: 0, expirationSeconds: 0, uuid: '', policy: '' }],
  ])('equals the reference with %s, without effect on other digests', (_, change) => {
    const before = digest(plain)
    expect(digestHex({ ...plain, ...change })).toBe(referenceStatementDigest({ ...plain, ...change }))
    for (const bytes of [before, digest(plain)]) expect(`0x${bytes.toHex()}`).toBe(vectors.vectors[0]!.digest)
  })

  test('changes with every field', () => {
    fc.assert(
      fc.property(address, (other) => {
        fc.pre(other !== plain.from && other !== plain.to)
        const variants: EvmStatement[] = [
          plain,
          { ...plain, chainId: 2 },
          { ...plain, uuid: `${plain.uuid.slice(0, -1)}7` },
          { ...plain, from: other },
          { ...plain, to: other },
          { ...plain, value: 1n },
          { ...plain, data: '0x00' },
          { ...plain, policy: 'x-abc123def457' },
          { ...plain, expirationSeconds: plain.expirationSeconds + 1 },
        ]
        expect(new Set(variants.map(digestHex)).size).toBe(variants.length)
      }),
      { numRuns: 20 },
    )
  })
})

describe('a statement that cannot be encoded is refused:', () => {
  test.each<[string, Partial<EvmStatement>]>([
    ['a negative value', { value: -1n }],
    ['a value of 2^256', { value: 2n ** 256n }],
    ['a negative chain id', { chainId: -1 }],
    ['a fractional chain id', { chainId: 1.5 }],
    ['a chain id of 2^53', { chainId: 2 ** 53 }],
    ['an expiration that is not a number', { expirationSeconds: Number.NaN }],
    ['an address that is too short', { from: '0x00' }],
    ['an address without 0x', { from: `${plain.from.slice(2)}00` }],
    ['an address that is not hex', { to: `0x${'g'.repeat(40)}` }],
    ['an address with letters that are not ASCII', { to: `0x${'\u0130'.repeat(40)}` }],
    ['data without 0x', { data: 'abcd' }],
    ['data of odd length', { data: '0xabc' }],
    ['data that is not hex', { data: '0xzz' }],
    ['data with letters that are not ASCII', { data: '0x\u0130\u0130' }],
    ['empty text for data', { data: '' }],
    ['data of more than 64 KiB', { data: `0x${'00'.repeat(65_537)}` }],
  ])('%s', (_, change) => {
    expect(() => digest({ ...plain, ...change })).toThrow(StatementInvalidError)
    expect(digestHex(plain)).toBe(vectors.vectors[0]!.digest)
  })
})
