// Instructions for the registry program, sent by its authority and by policy owners. Needs @solana/web3.js. They match
// the public registry program, except for one more account in `initialize`. Policy owners and two-step transfers exist
// only in contracts/solana/registry.
import { createHash } from 'node:crypto'
import { type AccountMeta, type PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { decodeKey } from './base58.ts'
import { ArgumentInvalidError } from './errors.ts'
import { accountOf, programDataOf, publicKeyOf } from './solana-accounts.ts'
import { uuidBytes } from './solana-fields.ts'

const discriminator = (name: string): Buffer => createHash('sha256').update(`global:${name}`).digest().subarray(0, 8)

const readable = (pubkey: PublicKey): AccountMeta => ({ pubkey, isWritable: false, isSigner: false })
const writable = (pubkey: PublicKey): AccountMeta => ({ pubkey, isWritable: true, isSigner: false })
const signing = (pubkey: PublicKey): AccountMeta => ({ pubkey, isWritable: false, isSigner: true })
const paying = (pubkey: PublicKey): AccountMeta => ({ pubkey, isWritable: true, isSigner: true })
const system = readable(SystemProgram.programId)

/** Creates the registry of a deployed program. Its upgrade authority must send it and becomes the authority. */
export const initializeRegistryInstruction = (registryProgram: string, authority: string): TransactionInstruction => {
  const programId = publicKeyOf('registryProgram', registryProgram)
  return new TransactionInstruction({
    programId,
    keys: [
      writable(accountOf(programId, 'predicate_registry')),
      paying(publicKeyOf('authority', authority)),
      system,
      readable(programDataOf(programId)),
    ],
    data: discriminator('initialize'),
  })
}

const attesterInstruction = (
  name: string,
  registryProgram: string,
  authority: string,
  attester: string,
  others: AccountMeta[],
): TransactionInstruction => {
  const programId = publicKeyOf('registryProgram', registryProgram)
  const key = decodeKey('attester', attester)
  return new TransactionInstruction({
    programId,
    keys: [
      writable(accountOf(programId, 'predicate_registry')),
      writable(accountOf(programId, 'attester', key)),
      paying(publicKeyOf('authority', authority)),
      ...others,
    ],
    data: Buffer.concat([discriminator(name), key]),
  })
}

export const registerAttesterInstruction = (
  registryProgram: string,
  authority: string,
  attester: string,
): TransactionInstruction => attesterInstruction('register_attester', registryProgram, authority, attester, [system])

/** The authority receives the account's rent. */
export const deregisterAttesterInstruction = (
  registryProgram: string,
  authority: string,
  attester: string,
): TransactionInstruction => attesterInstruction('deregister_attester', registryProgram, authority, attester, [])

export interface SolanaPolicyChange {
  /** Guarded program, or an account that isn't a program. */
  readonly target: string
  /** Upgrade authority of the program, or policy owner. */
  readonly authority: string
}

const policyText = (policy: string): Buffer => {
  if (!/^[\x21-\x7e]{1,64}$/.test(policy)) {
    throw new ArgumentInvalidError('policy', 'must be 1 to 64 visible ASCII characters')
  }
  const length = Buffer.alloc(4)
  length.writeUInt32LE(policy.length)
  return Buffer.concat([length, Buffer.from(policy)])
}

const policyAccounts = (programId: PublicKey, { target, authority }: SolanaPolicyChange, first: AccountMeta[]) => {
  const key = publicKeyOf('target', target)
  return [
    ...first,
    writable(accountOf(programId, 'policy', key.toBytes())),
    readable(key),
    readable(programDataOf(key)),
    paying(publicKeyOf('authority', authority)),
  ]
}

/**
 * Sets the first policy of a target, signed by the target program's upgrade authority.
 * @param policy the project's `verification_hash`
 * @param options.targetSigns for a target that isn't a program: it also signs, and the authority becomes policy owner
 * @throws ArgumentInvalidError
 */
export const setPolicyInstruction = (
  registryProgram: string,
  change: SolanaPolicyChange,
  policy: string,
  options: { readonly targetSigns?: boolean } = {},
): TransactionInstruction => {
  const programId = publicKeyOf('registryProgram', registryProgram)
  const accounts = policyAccounts(programId, change, [writable(accountOf(programId, 'predicate_registry'))])
  const keys = accounts.map((account, at) =>
    at === 2 ? { ...account, isSigner: options.targetSigns === true } : account,
  )
  return new TransactionInstruction({
    programId,
    keys: [...keys, system],
    data: Buffer.concat([discriminator('set_policy_id'), policyText(policy)]),
  })
}

export const updatePolicyInstruction = (
  registryProgram: string,
  change: SolanaPolicyChange,
  policy: string,
): TransactionInstruction => {
  const programId = publicKeyOf('registryProgram', registryProgram)
  return new TransactionInstruction({
    programId,
    keys: policyAccounts(programId, change, [writable(accountOf(programId, 'predicate_registry'))]),
    data: Buffer.concat([discriminator('update_policy_id'), policyText(policy)]),
  })
}

/**
 * Sets the policy owner, who also signs and can then change the policy.
 * @param owner null removes the owner, which requires the upgrade authority @throws ArgumentInvalidError
 */
export const setPolicyOwnerInstruction = (
  registryProgram: string,
  change: SolanaPolicyChange,
  owner: string | null,
): TransactionInstruction => {
  const programId = publicKeyOf('registryProgram', registryProgram)
  const keys = policyAccounts(programId, change, [readable(accountOf(programId, 'predicate_registry'))])
  return new TransactionInstruction({
    programId,
    keys: [...keys, owner === null ? system : signing(publicKeyOf('owner', owner))],
    data: discriminator('set_policy_owner'),
  })
}

/** @param next null cancels the transfer */
export const transferAuthorityInstruction = (
  registryProgram: string,
  authority: string,
  next: string | null,
): TransactionInstruction => {
  const programId = publicKeyOf('registryProgram', registryProgram)
  return new TransactionInstruction({
    programId,
    keys: [writable(accountOf(programId, 'predicate_registry')), signing(publicKeyOf('authority', authority))],
    data: Buffer.concat([
      discriminator('transfer_authority'),
      next === null ? Buffer.alloc(32) : decodeKey('next', next),
    ]),
  })
}

/** Completes a transfer; signed by `next`. */
export const acceptAuthorityInstruction = (registryProgram: string, next: string): TransactionInstruction => {
  const programId = publicKeyOf('registryProgram', registryProgram)
  return new TransactionInstruction({
    programId,
    keys: [writable(accountOf(programId, 'predicate_registry')), signing(publicKeyOf('next', next))],
    data: discriminator('accept_authority'),
  })
}

/** Returns the rent of a spent attestation to its payer, 30 s after expiry. @throws ArgumentInvalidError */
export const closeSpentUuidInstruction = (
  registryProgram: string,
  uuid: string,
  payer: string,
): TransactionInstruction => {
  const programId = publicKeyOf('registryProgram', registryProgram)
  return new TransactionInstruction({
    programId,
    keys: [writable(accountOf(programId, 'used_uuid', uuidBytes('uuid', uuid))), writable(publicKeyOf('payer', payer))],
    data: discriminator('cleanup_expired_uuid'),
  })
}
