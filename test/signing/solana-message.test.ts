// The signed message for Solana, compared with published vectors and a concatenation.
import { describe, expect, test } from 'bun:test'
import bs58 from 'bs58'
import fc from 'fast-check'
import { SOLANA_ZERO_ADDRESS } from '../../src/domain/address.ts'
import { createEd25519Signer } from '../../src/signing/ed25519.ts'
import { StatementInvalidError } from '../../src/signing/errors.ts'
import { DEFAULT_SOLANA_MESSAGE_PREFIX } from '../../src/signing/solana-message.ts'
import vectors from '../vectors/solana.json'
import { solanaStatement } from './arbitraries.ts'
import { referenceSolanaMessage } from './reference-encoding.ts'
import { type SolanaStatement, solanaMessageBuilder } from './statements.ts'

const build = solanaMessageBuilder()
const signer = createEd25519Signer(Uint8Array.fromHex(vectors.seed.slice(2)))

const statementOf = (vector: (typeof vectors.vectors)[number]): SolanaStatement => ({
  uuid: vector.uuid,
  from: vector.from,
  to: vector.to,
  lamports: BigInt(vector.msg_value),
  data: vector.data,
  policy: vector.policy,
  expirationSeconds: vector.expiration,
})
const plain = statementOf(vectors.vectors[0]!)

describe('the Solana message', () => {
  test.each(vectors.vectors)('and its signature equal the vector $uuid', (vector) => {
    const message = build(statementOf(vector))
    expect(`0x${message.toHex()}`).toBe(vector.message)
    expect(`0x${signer.sign(message).toHex()}`).toBe(vector.signature)
  })

  test('equals the hash of a concatenation, for any sequence of statements', () => {
    const examples: [SolanaStatement][] = [
      [{ ...plain, to: SOLANA_ZERO_ADDRESS }],
      [{ ...plain, data: `0x${'ab'.repeat(65_536)}` }],
      [{ ...plain, data: '0x' }],
    ]
    fc.assert(
      fc.property(solanaStatement, (statement) => {
        expect(build(statement).toHex()).toBe(referenceSolanaMessage(DEFAULT_SOLANA_MESSAGE_PREFIX, statement))
      }),
      { numRuns: 300, examples },
    )
  })

  test('has a configurable prefix', () => {
    const message = solanaMessageBuilder('another_registry')(plain)
    expect(message.toHex()).toBe(referenceSolanaMessage('another_registry', plain))
  })

  test.each(['', 'with space', 'ünicode', 'x'.repeat(65)])('refuses the prefix %p', (prefix) => {
    expect(() => solanaMessageBuilder(prefix)).toThrow(StatementInvalidError)
  })

  test.each<[string, Partial<SolanaStatement>]>([
    ['lamports of 2^64', { lamports: 2n ** 64n }],
    ['negative lamports', { lamports: -1n }],
    ['an expiration of 2^53', { expirationSeconds: 2 ** 53 }],
    ['a negative expiration', { expirationSeconds: -1 }],
    ['an address of 31 bytes', { from: bs58.encode(new Uint8Array(31).fill(9)) }],
    ['an address that is not base58', { to: '0'.repeat(44) }],
    ['a uuid without hyphens', { uuid: plain.uuid.replaceAll('-', '') }],
    ['data of odd length', { data: '0xabc' }],
    ['data that is not hex', { data: '0xzz' }],
    ['data of more than 64 KiB', { data: `0x${'00'.repeat(65_537)}` }],
  ])('refuses %s', (_, change) => {
    expect(() => build({ ...plain, ...change })).toThrow(StatementInvalidError)
    expect(`0x${build(plain).toHex()}`).toBe(vectors.vectors[0]!.message)
  })
})
