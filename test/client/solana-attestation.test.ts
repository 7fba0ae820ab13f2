// The client's Solana message and verifier, compared with the published vectors and the signing code.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Attestation } from '../../src/client/attestation-types.ts'
import { ArgumentInvalidError } from '../../src/client/errors.ts'
import { type SolanaAttestedCall, solanaMessage, verifySolanaAttestation } from '../../src/client/solana-attestation.ts'
import { solanaStatement } from '../signing/arbitraries.ts'
import { solanaMessageBuilder } from '../signing/statements.ts'
import vectors from '../vectors/solana.json'

const PROGRAM = 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'

const published = vectors.vectors.map((vector) => ({
  message: vector.message,
  call: {
    from: vector.from,
    to: vector.to,
    verificationHash: vector.policy,
    data: vector.data,
    lamports: BigInt(vector.msg_value),
  } satisfies SolanaAttestedCall,
  attestation: {
    uuid: vector.uuid,
    expiration: vector.expiration,
    attester: vectors.attester,
    signature: vector.signature,
  } satisfies Attestation,
}))
const { call, attestation } = published[0]!

describe('solanaMessage', () => {
  test('equals the published messages', () => {
    for (const vector of published) {
      expect(`0x${solanaMessage(vector.call, vector.attestation).toHex()}`).toBe(vector.message)
    }
  })

  test('equals the signed message for any statement and prefix', () => {
    fc.assert(
      fc.property(solanaStatement, fc.stringMatching(/^[\x21-\x7e]{1,64}$/), (statement, prefix) => {
        const rebuilt = solanaMessage(
          {
            from: statement.from,
            to: statement.to,
            verificationHash: statement.policy,
            data: statement.data,
            lamports: statement.lamports,
          },
          { uuid: statement.uuid, expiration: statement.expirationSeconds },
          prefix,
        )
        expect(rebuilt.toHex()).toBe(solanaMessageBuilder(prefix)(statement).toHex())
      }),
    )
  })

  test('treats absent data and lamports as empty and 0', () => {
    const { data: _, lamports: __, ...bare } = call
    expect(solanaMessage(bare, attestation)).toEqual(solanaMessage({ ...call, data: '0x', lamports: 0n }, attestation))
  })

  test.each([
    ['from', 'that is not base58', { from: 'not base58 0OIl' }],
    ['from', 'of 31 bytes', { from: '1111111111111111111111111111111' }],
    ['to', 'of an EVM chain', { to: '0x1111111111111111111111111111111111111111' }],
    ['data', 'with an odd number of hex digits', { data: '0x1' }],
    ['data', 'that is not hex', { data: '0xzz' }],
    ['data', 'without 0x', { data: 'ab' }],
    ['lamports', 'below 0', { lamports: -1n }],
    ['lamports', 'of 2^64', { lamports: 2n ** 64n }],
    ['uuid', 'that is not a UUID', { uuid: 'not a uuid' }],
    ['uuid', 'with an extra digit', { uuid: `${attestation.uuid}0` }],
    ['expiration', 'below 0', { expiration: -1 }],
    ['expiration', 'that is not an integer', { expiration: 1.5 }],
  ] as const)('refuses %s %s', (argument, _, fields) => {
    const attempt = () => solanaMessage({ ...call, ...fields }, { ...attestation, ...fields })
    expect(attempt).toThrow(ArgumentInvalidError)
    expect(attempt).toThrow(argument)
  })
})

describe('verifySolanaAttestation', () => {
  test('accepts the published attestations', () => {
    for (const vector of published) expect(verifySolanaAttestation(vector.call, vector.attestation)).toBe(true)
  })

  test('rejects each of them with one field changed', () => {
    for (const vector of published) {
      const calls: Partial<SolanaAttestedCall>[] = [
        { from: PROGRAM },
        { to: PROGRAM },
        { verificationHash: `${vector.call.verificationHash} ` },
        { data: `${vector.call.data}00` },
        { lamports: vector.call.lamports ^ 1n },
      ]
      for (const fields of calls) {
        expect(verifySolanaAttestation({ ...vector.call, ...fields }, vector.attestation)).toBe(false)
      }
      const { signature } = vector.attestation
      const attestations: Partial<Attestation>[] = [
        { uuid: '658ffaa7-2fe7-402d-8ddb-52e9a310e686' },
        { expiration: vector.attestation.expiration + 1 },
        { attester: PROGRAM },
        { signature: `${signature.slice(0, -1)}${signature.endsWith('0') ? '1' : '0'}` },
      ]
      for (const fields of attestations) {
        expect(verifySolanaAttestation(vector.call, { ...vector.attestation, ...fields })).toBe(false)
      }
      expect(verifySolanaAttestation(vector.call, vector.attestation, 'another_prefix')).toBe(false)
    }
  })

  test('refuses a signature of another length', () => {
    const attempt = () => verifySolanaAttestation(call, { ...attestation, signature: '0x00' })
    expect(attempt).toThrow(ArgumentInvalidError)
  })
})
