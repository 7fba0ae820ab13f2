// The instructions of the example vault, and the attested call of a withdrawal.
import { createHash } from 'node:crypto'
import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import type { Attestation } from '../../src/client/attestation-types.ts'
import { accountOf, programDataOf } from '../../src/client/solana-accounts.ts'
import type { SolanaAttestedCall } from '../../src/client/solana-attestation.ts'
import { validateAttestationInstruction } from '../../src/client/solana-instructions.ts'

const discriminator = (name: string): Buffer => createHash('sha256').update(`global:${name}`).digest().subarray(0, 8)

const amountBytes = (lamports: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(lamports)
  return bytes
}

export interface Withdrawal {
  readonly owner: PublicKey
  readonly recipient: PublicKey
  readonly lamports: bigint
}

/** Returns the attested call: the wallet, or the wallet and the withdrawal. */
export const withdrawalCall = (
  program: PublicKey,
  policy: string,
  { owner, recipient, lamports }: Withdrawal,
  bindsCall: boolean,
): Required<SolanaAttestedCall> => {
  const bound = Buffer.concat([discriminator('withdraw'), amountBytes(lamports), recipient.toBytes()])
  return {
    from: owner.toBase58(),
    to: program.toBase58(),
    verificationHash: policy,
    data: bindsCall ? `0x${bound.toString('hex')}` : '0x',
    lamports: bindsCall ? lamports : 0n,
  }
}

export const vaultOf = (program: PublicKey, owner: PublicKey): PublicKey => accountOf(program, 'vault', owner.toBytes())

export const initializeVaultInstruction = (
  program: PublicKey,
  authority: PublicKey,
  registry: string,
  bindsCall: boolean,
): TransactionInstruction =>
  new TransactionInstruction({
    programId: program,
    keys: [
      { pubkey: accountOf(program, 'config'), isWritable: true, isSigner: false },
      { pubkey: authority, isWritable: true, isSigner: true },
      { pubkey: SystemProgram.programId, isWritable: false, isSigner: false },
      { pubkey: programDataOf(program), isWritable: false, isSigner: false },
    ],
    data: Buffer.concat([discriminator('initialize'), new PublicKey(registry).toBytes(), Buffer.from([+bindsCall])]),
  })

export const withdrawInstruction = (
  program: PublicKey,
  registry: string,
  { owner, recipient, lamports }: Withdrawal,
  attestation: Attestation,
): TransactionInstruction => {
  const call = { from: owner.toBase58(), to: program.toBase58(), verificationHash: '' }
  const validation = validateAttestationInstruction(registry, call, attestation)
  return new TransactionInstruction({
    programId: program,
    keys: [
      { pubkey: accountOf(program, 'config'), isWritable: false, isSigner: false },
      { pubkey: vaultOf(program, owner), isWritable: true, isSigner: false },
      { pubkey: recipient, isWritable: true, isSigner: false },
      { pubkey: new PublicKey(registry), isWritable: false, isSigner: false },
      ...validation.keys,
    ],
    // Uuid, attester, signature and expiration are the end of the registry's instruction.
    data: Buffer.concat([discriminator('withdraw'), amountBytes(lamports), validation.data.subarray(-120)]),
  })
}
