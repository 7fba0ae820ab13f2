// The bytes of the two Solana instructions (decisions §6).
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { PublicKey } from '@solana/web3.js'
import { ArgumentInvalidError } from '../../src/client/errors.ts'
import { solanaMessage } from '../../src/client/solana-attestation.ts'
import {
  ed25519Instruction,
  solanaAttestationInstructions,
  solanaRegistryAccounts,
  validateAttestationInstruction,
} from '../../src/client/solana-instructions.ts'
import vectors from '../vectors/solana.json'

const REGISTRY_PROGRAM = 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'

const [vector] = vectors.vectors.filter(({ data }) => data.length > 4)
const call = {
  from: vector!.from,
  to: vector!.to,
  verificationHash: vector!.policy,
  data: vector!.data,
  lamports: BigInt(vector!.msg_value),
}
const attestation = {
  uuid: vector!.uuid,
  expiration: vector!.expiration,
  attester: vectors.attester,
  signature: vector!.signature,
}
const bytesOf = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')
const keyBytes = (text: string): Buffer => Buffer.from(new PublicKey(text).toBytes())

describe('ed25519Instruction', () => {
  const { programId, keys, data } = ed25519Instruction(attestation, solanaMessage(call, attestation))

  test('verifies one signature for the Ed25519 program, without accounts, and refers only to itself', () => {
    expect([programId.toBase58(), keys]).toEqual(['Ed25519SigVerify111111111111111111111111111', []])
    const header = Array.from({ length: 7 }, (_, index) => data.readUInt16LE(2 + 2 * index))
    const [signatureAt = 0, signatureIn, keyAt = 0, keyIn, messageAt = 0, messageSize, messageIn] = header
    expect([data[0], data[1]]).toEqual([1, 0])
    expect([signatureIn, keyIn, messageIn]).toEqual([0xffff, 0xffff, 0xffff])
    expect(messageSize).toBe(32)
    for (const offset of [signatureAt, keyAt, messageAt]) expect(offset).toBeGreaterThanOrEqual(16)
    expect(data.subarray(signatureAt, signatureAt + 64)).toEqual(bytesOf(attestation.signature))
    expect(data.subarray(keyAt, keyAt + 32)).toEqual(keyBytes(attestation.attester))
    expect(data.subarray(messageAt, messageAt + 32)).toEqual(bytesOf(vector!.message))
    expect(data.length).toBe(16 + 64 + 32 + 32)
  })

  test('refuses a message or signature of another length', () => {
    expect(() => ed25519Instruction(attestation, new Uint8Array(31))).toThrow(ArgumentInvalidError)
    const short = { ...attestation, signature: attestation.signature.slice(0, -2) }
    expect(() => ed25519Instruction(short, new Uint8Array(32))).toThrow(ArgumentInvalidError)
  })
})

describe('validateAttestationInstruction', () => {
  const { programId, keys, data } = validateAttestationInstruction(REGISTRY_PROGRAM, call, attestation)

  test('has the accounts in the order and with the permissions that the program requires', () => {
    const derived = (...seeds: Buffer[]): string =>
      PublicKey.findProgramAddressSync(seeds, new PublicKey(REGISTRY_PROGRAM))[0].toBase58()
    const uuid = Buffer.from(attestation.uuid.replaceAll('-', ''), 'hex')
    expect(programId.toBase58()).toBe(REGISTRY_PROGRAM)
    expect(keys.map(({ pubkey, isWritable, isSigner }) => [pubkey.toBase58(), isWritable, isSigner])).toEqual([
      [derived(Buffer.from('predicate_registry')), true, false],
      [derived(Buffer.from('attester'), keyBytes(attestation.attester)), true, false],
      [derived(Buffer.from('policy'), keyBytes(call.to)), false, false],
      [derived(Buffer.from('used_uuid'), uuid), true, false],
      [call.from, true, true],
      ['11111111111111111111111111111111', false, false],
      ['Sysvar1nstructions1111111111111111111111111', false, false],
    ])
  })

  test('starts with the discriminator of validate_attestation', () => {
    const discriminator = createHash('sha256').update('global:validate_attestation').digest().subarray(0, 8)
    expect(discriminator.toString('hex')).toBe('fae8248f950149dc')
    expect(data.subarray(0, 8)).toEqual(discriminator)
  })

  test('contains target, lamports, call data, uuid, attester, signature and expiration only', () => {
    let at = 8
    const take = (length: number): Buffer => {
      at += length
      return data.subarray(at - length, at)
    }
    const callData = bytesOf(call.data)
    expect(take(32)).toEqual(keyBytes(call.to))
    expect(take(8).readBigUInt64LE()).toBe(call.lamports)
    expect(take(4).readUInt32LE()).toBe(callData.length)
    expect(take(callData.length)).toEqual(callData)
    expect(take(16).toString('hex')).toBe(attestation.uuid.replaceAll('-', ''))
    expect(take(32)).toEqual(keyBytes(attestation.attester))
    expect(take(64)).toEqual(bytesOf(attestation.signature))
    expect(take(8).readBigInt64LE()).toBe(BigInt(attestation.expiration))
    expect(at).toBe(data.length)
  })

  test('refuses a program that is not an address', () => {
    expect(() => validateAttestationInstruction('registry', call, attestation)).toThrow('registryProgram')
  })
})

test('solanaRegistryAccounts depends on program, target, attester and uuid', () => {
  const accounts = solanaRegistryAccounts(REGISTRY_PROGRAM, call, attestation)
  const other = solanaRegistryAccounts(REGISTRY_PROGRAM, { to: call.from }, { ...attestation, attester: call.to })
  expect(other.registry).toEqual(accounts.registry)
  expect(other.usedUuid).toEqual(accounts.usedUuid)
  expect(other.policy).not.toEqual(accounts.policy)
  expect(other.attester).not.toEqual(accounts.attester)
})

test('solanaAttestationInstructions puts the signature check immediately before the validation', () => {
  const [check, validation] = solanaAttestationInstructions(REGISTRY_PROGRAM, call, attestation)
  expect(check).toEqual(ed25519Instruction(attestation, solanaMessage(call, attestation)))
  expect(validation).toEqual(validateAttestationInstruction(REGISTRY_PROGRAM, call, attestation))
})
