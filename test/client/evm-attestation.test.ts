// The client's EVM digest, verifier and contract arguments, compared with the published vectors and the signing code.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AttestationRequest } from '../../src/client/attestation-types.ts'
import { ArgumentInvalidError } from '../../src/client/errors.ts'
import {
  attestationArgument,
  type EvmAttestedCall,
  evmAttestedCall,
  statementArgument,
  taskMessageArgument,
} from '../../src/client/evm-arguments.ts'
import { evmDigest, verifyEvmAttestation } from '../../src/client/evm-attestation.ts'
import { statementArgument as abiStatement, digestStatement, highSTwin } from '../chain/attesting.ts'
import { evmStatement } from '../signing/arbitraries.ts'
import vectors from '../vectors/evm-v2.json'
import { SIGNATURE, UUID, WALLET } from './support/answers.ts'

const published = vectors.vectors.map((vector) => ({
  digest: vector.digest,
  call: {
    chainId: vector.chain_id,
    from: vector.from,
    to: vector.to,
    verificationHash: vector.policy,
    data: vector.data,
    wei: BigInt(vector.msg_value),
  } satisfies EvmAttestedCall,
  attestation: {
    uuid: vector.uuid,
    expiration: vector.expiration,
    attester: vectors.attester,
    signature: vector.signature,
  },
}))
const { call, attestation } = published[0]!

describe('evmDigest', () => {
  test('equals the published digests', () => {
    for (const vector of published) expect<string>(evmDigest(vector.call, vector.attestation)).toBe(vector.digest)
  })

  test('equals the signed digest, and the argument equals the ABI encoding, for any statement', () => {
    fc.assert(
      fc.property(evmStatement, (statement) => {
        fc.pre(statement.chainId > 0)
        const { chainId, from, to, data, policy, value, uuid, expirationSeconds } = statement
        const attested = { chainId, from, to, data, verificationHash: policy, wei: value }
        const fields = { uuid, expiration: expirationSeconds }
        expect<string>(evmDigest(attested, fields)).toBe(`0x${digestStatement(statement).toHex()}`)
        expect(statementArgument(attested, fields)).toEqual(abiStatement(statement))
      }),
      { numRuns: 50 },
    )
  })

  test('treats absent data and wei as empty and 0', () => {
    const { data: _, wei: __, ...bare } = call
    expect(evmDigest(bare, attestation)).toBe(evmDigest({ ...call, data: '0x', wei: 0n }, attestation))
  })

  test.each([
    ['chainId', 'of 0', { chainId: 0 }],
    ['chainId', 'that is not an integer', { chainId: 1.5 }],
    ['from', 'that is a Solana address', { from: '11111111111111111111111111111111' }],
    ['to', 'that is too short', { to: '0x11' }],
    ['data', 'with an odd number of hex digits', { data: '0x1' }],
    ['data', 'without 0x', { data: 'ab' }],
    ['wei', 'below 0', { wei: -1n }],
    ['wei', 'of 2^256', { wei: 2n ** 256n }],
  ] as const)('refuses %s %s', (argument, _, fields) => {
    const attempt = () => evmDigest({ ...call, ...fields }, attestation)
    expect(attempt).toThrow(ArgumentInvalidError)
    expect(attempt).toThrow(argument)
  })
})

describe('verifyEvmAttestation', () => {
  test('accepts the published attestations, regardless of the case of addresses', async () => {
    for (const vector of published) expect(await verifyEvmAttestation(vector.call, vector.attestation)).toBe(true)
    const lower = { ...attestation, attester: attestation.attester.toLowerCase() }
    expect(await verifyEvmAttestation({ ...call, from: call.from.toUpperCase().replace('X', 'x') }, lower)).toBe(true)
  })

  test('rejects each of them with one field changed', async () => {
    for (const vector of published) {
      const calls: Partial<EvmAttestedCall>[] = [
        { chainId: vector.call.chainId + 1 },
        { from: WALLET },
        { to: WALLET },
        { verificationHash: `${vector.call.verificationHash} ` },
        { data: `${vector.call.data}00` },
        { wei: vector.call.wei ^ 1n },
      ]
      for (const fields of calls) {
        expect(await verifyEvmAttestation({ ...vector.call, ...fields }, vector.attestation)).toBe(false)
      }
      const { signature, expiration } = vector.attestation
      const changed = [
        { uuid: UUID },
        { expiration: expiration + 1 },
        { attester: WALLET },
        { signature: `0x${signature[2] === '0' ? '1' : '0'}${signature.slice(3)}` },
      ]
      for (const fields of changed) {
        expect(await verifyEvmAttestation(vector.call, { ...vector.attestation, ...fields })).toBe(false)
      }
    }
  })

  test('rejects a high s, a recovery byte of 0 or 1, and an r or s that is out of range', async () => {
    const signature = attestation.signature as `0x${string}`
    const spellings = [
      highSTwin(signature),
      `${signature.slice(0, -2)}${signature.endsWith('1b') ? '00' : '01'}`,
      `0x${'00'.repeat(64)}1b`,
      `0x${'ff'.repeat(32)}${'00'.repeat(31)}011b`,
    ]
    for (const spelling of spellings) {
      expect(await verifyEvmAttestation(call, { ...attestation, signature: spelling })).toBe(false)
    }
  })
})

describe('contract arguments', () => {
  const request: AttestationRequest = { from: WALLET, to: WALLET, chain: 'base', data: '0xab', msgValue: 5n }
  const answer = { verificationHash: 'x-0123456789abcdef' }

  test('of an attestation match the ABI, in lower case', () => {
    expect(attestationArgument(attestation)).toEqual({
      uuid: attestation.uuid,
      expiration: BigInt(attestation.expiration),
      attester: attestation.attester.toLowerCase() as `0x${string}`,
      signature: attestation.signature as `0x${string}`,
    })
  })

  test('for a Solana attestation or a short signature are rejected', () => {
    const solana = { ...attestation, attester: 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck' }
    expect(() => attestationArgument(solana)).toThrow(ArgumentInvalidError)
    expect(() => attestationArgument({ ...attestation, signature: `0x${'ab'.repeat(64)}` })).toThrow('signature')
  })

  test('of a call come from the request and the response', () => {
    expect(evmAttestedCall(request, answer)).toEqual({
      chainId: 8453,
      from: WALLET,
      to: WALLET,
      verificationHash: answer.verificationHash,
      data: '0xab',
      wei: 5n,
    })
    expect(evmAttestedCall({ from: WALLET, chain: 'my-rollup', ...answer }, answer, 424242)).toMatchObject({
      chainId: 424242,
      to: '0x0000000000000000000000000000000000000000',
      data: '0x',
      wei: 0n,
    })
    expect(() => evmAttestedCall({ ...request, chain: 'my-rollup' }, answer)).toThrow('chainId')
  })

  test('of a task match the ABI', () => {
    const fields = { taskId: UUID, signers: [WALLET], signatures: [SIGNATURE], expiryBlock: 7 }
    expect(taskMessageArgument({ isCompliant: true, requestId: 'id', ...fields } as never)).toEqual({
      taskId: UUID,
      expiry: 7n,
      signerAddresses: [WALLET],
      signatures: [SIGNATURE as `0x${string}`],
    })
  })
})
