// The IDL of the registry program, compared with the instructions of the client and the errors of the source.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TransactionInstruction } from '@solana/web3.js'
import { FOLDER } from '../../contracts/solana/build.ts'
import idl from '../../contracts/solana/registry/registry.idl.json'
import { validateAttestationInstruction } from '../../src/client/solana-instructions.ts'
import {
  acceptAuthorityInstruction,
  closeSpentUuidInstruction,
  deregisterAttesterInstruction,
  initializeRegistryInstruction,
  registerAttesterInstruction,
  setPolicyInstruction,
  setPolicyOwnerInstruction,
  transferAuthorityInstruction,
  updatePolicyInstruction,
} from '../../src/client/solana-registry.ts'
import vectors from '../vectors/solana.json'

const PROGRAM = 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'
const KEY = 'DeZVDBizsEVYvCDyLDLU8MPgE6ndYE2dDA1MXaL2neJC'
const UUID = '00000000-0000-4000-8000-000000000001'
const change = { target: KEY, authority: KEY }
const call = { from: KEY, to: KEY, verificationHash: 'x-1', data: '0x0102' }
const attestation = { uuid: UUID, expiration: 1, attester: KEY, signature: vectors.vectors[0]!.signature }

const SENT: Readonly<Record<string, TransactionInstruction>> = {
  initialize: initializeRegistryInstruction(PROGRAM, KEY),
  register_attester: registerAttesterInstruction(PROGRAM, KEY, KEY),
  deregister_attester: deregisterAttesterInstruction(PROGRAM, KEY, KEY),
  set_policy_id: setPolicyInstruction(PROGRAM, change, 'x-1'),
  update_policy_id: updatePolicyInstruction(PROGRAM, change, 'x-1'),
  set_policy_owner: setPolicyOwnerInstruction(PROGRAM, change, null),
  validate_attestation: validateAttestationInstruction(PROGRAM, call, attestation),
  cleanup_expired_uuid: closeSpentUuidInstruction(PROGRAM, UUID, KEY),
  transfer_authority: transferAuthorityInstruction(PROGRAM, KEY, KEY),
  accept_authority: acceptAuthorityInstruction(PROGRAM, KEY),
}

/** Sizes of the arguments above in bytes. */
const BYTES: Readonly<Record<string, number>> = { pubkey: 32, u64: 8, string: 4 + 3, bytes: 4 + 2, Attestation: 120 }

const hash = (text: string): number[] => [...createHash('sha256').update(text).digest().subarray(0, 8)]

describe('the IDL of the registry program', () => {
  test('has every instruction of the client', () => {
    expect(idl.instructions.map(({ name }) => name).sort()).toEqual(Object.keys(SENT).sort())
  })

  test.each(idl.instructions)('describes $name as the client sends it', ({ name, discriminator, accounts, args }) => {
    const { keys, data } = SENT[name]!
    expect(discriminator).toEqual(hash(`global:${name}`))
    expect([...data.subarray(0, 8)]).toEqual(discriminator)
    const rights = accounts.map((account) => ['writable' in account, 'signer' in account])
    expect(rights).toEqual(keys.map(({ isWritable, isSigner }) => [isWritable, isSigner]))
    for (const [index, account] of accounts.entries()) {
      if ('address' in account) expect(keys[index]!.pubkey.toBase58()).toBe(String(account.address))
    }
    const lengths = args.map(({ type }) => BYTES[typeof type === 'string' ? type : type.defined.name]!)
    expect(data.length).toBe(8 + lengths.reduce((sum, length) => sum + length, 0))
  })

  test('has the discriminators of the accounts, and every error of the program', () => {
    for (const { name, discriminator } of idl.accounts) expect(discriminator).toEqual(hash(`account:${name}`))
    const source = readFileSync(join(FOLDER, 'registry', 'state.h'), 'utf8')
    const numbers = [...source.matchAll(/#define ERROR_\w+ (6\d{3})/g)].map(([, number]) => Number(number))
    expect(idl.errors.map(({ code }) => code)).toEqual(numbers)
  })
})
