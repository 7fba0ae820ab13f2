// The two instructions of an attested Solana transaction: the Ed25519 program checks the signature, then the registry
// checks that the attestation is for this call. Needs @solana/web3.js.
import {
  Ed25519Program,
  type PublicKey,
  SYSVAR_INSTRUCTIONS_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import type { Attestation } from './attestation-types.ts'
import { decodeKey } from './base58.ts'
import { ArgumentInvalidError } from './errors.ts'
import { accountOf, publicKeyOf } from './solana-accounts.ts'
import { type SolanaAttestedCall, solanaMessage } from './solana-attestation.ts'
import { hexBytes, secondsBytes, u64Bytes, uuidBytes } from './solana-fields.ts'

/** Anchor discriminator: first 8 bytes of SHA-256 of `global:validate_attestation`. */
const VALIDATE_ATTESTATION = Buffer.from('fae8248f950149dc', 'hex')

export interface SolanaRegistryAccounts {
  readonly registry: PublicKey
  readonly attester: PublicKey
  readonly policy: PublicKey
  readonly usedUuid: PublicKey
}

export const solanaRegistryAccounts = (
  registryProgram: string,
  call: Pick<SolanaAttestedCall, 'to'>,
  attestation: Pick<Attestation, 'uuid' | 'attester'>,
): SolanaRegistryAccounts => {
  const program = publicKeyOf('registryProgram', registryProgram)
  return {
    registry: accountOf(program, 'predicate_registry'),
    attester: accountOf(program, 'attester', decodeKey('attester', attestation.attester)),
    policy: accountOf(program, 'policy', decodeKey('to', call.to)),
    usedUuid: accountOf(program, 'used_uuid', uuidBytes('uuid', attestation.uuid)),
  }
}

/** Checks one signature over 32 bytes, with all data inside the instruction. @throws ArgumentInvalidError */
export const ed25519Instruction = (
  attestation: Pick<Attestation, 'attester' | 'signature'>,
  message: Uint8Array,
): TransactionInstruction => {
  if (message.length !== 32) throw new ArgumentInvalidError('message', 'must be 32 bytes')
  return Ed25519Program.createInstructionWithPublicKey({
    publicKey: decodeKey('attester', attestation.attester),
    message,
    signature: hexBytes('signature', attestation.signature, 64),
  })
}

export const validateAttestationInstruction = (
  registryProgram: string,
  call: SolanaAttestedCall,
  attestation: Attestation,
): TransactionInstruction => {
  const accounts = solanaRegistryAccounts(registryProgram, call, attestation)
  const callData = hexBytes('data', call.data ?? '0x')
  const callDataLength = Buffer.alloc(4)
  callDataLength.writeUInt32LE(callData.length)
  const account = (pubkey: PublicKey, isWritable: boolean, isSigner = false) => ({ pubkey, isWritable, isSigner })
  return new TransactionInstruction({
    programId: publicKeyOf('registryProgram', registryProgram),
    keys: [
      account(accounts.registry, true),
      account(accounts.attester, true),
      account(accounts.policy, false),
      account(accounts.usedUuid, true),
      account(publicKeyOf('from', call.from), true, true),
      account(SystemProgram.programId, false),
      account(SYSVAR_INSTRUCTIONS_PUBKEY, false),
    ],
    data: Buffer.concat([
      VALIDATE_ATTESTATION,
      decodeKey('to', call.to),
      u64Bytes('lamports', call.lamports ?? 0n),
      callDataLength,
      callData,
      uuidBytes('uuid', attestation.uuid),
      decodeKey('attester', attestation.attester),
      hexBytes('signature', attestation.signature, 64),
      secondsBytes('expiration', attestation.expiration),
    ]),
  })
}

/**
 * Returns both instructions; insert nothing between them. The guarded program's instruction follows. If that program
 * calls the registry itself, put only the first instruction directly before it.
 * @param prefix message prefix of the deployment, if not the default @throws ArgumentInvalidError
 */
export const solanaAttestationInstructions = (
  registryProgram: string,
  call: SolanaAttestedCall,
  attestation: Attestation,
  prefix?: string,
): [TransactionInstruction, TransactionInstruction] => [
  ed25519Instruction(attestation, solanaMessage(call, attestation, prefix)),
  validateAttestationInstruction(registryProgram, call, attestation),
]
