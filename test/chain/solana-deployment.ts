// Deployment of a program with the upgradeable loader, which checks the file as a cluster does. Source: the loader's
// instructions (bincode).
import {
  type Keypair,
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import { programDataOf } from '../../src/client/solana-accounts.ts'
import type { LocalSvm } from './svm.ts'

const LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111')
const INITIALIZE_BUFFER = 0
const WRITE = 1
const DEPLOY = 2
const SET_AUTHORITY = 4
const BUFFER_HEADER = 37
const PROGRAM_BYTES = 36
const CHUNK = 900

const writable = (pubkey: PublicKey) => ({ pubkey, isWritable: true, isSigner: false })
const readable = (pubkey: PublicKey) => ({ pubkey, isWritable: false, isSigner: false })
const signing = (pubkey: PublicKey) => ({ pubkey, isWritable: false, isSigner: true })

const words = (...values: readonly (readonly [number, 4 | 8])[]): Buffer =>
  Buffer.concat(
    values.map(([value, bytes]) => {
      const word = Buffer.alloc(bytes)
      word.writeUInt32LE(value)
      return word
    }),
  )

const loader = (keys: TransactionInstruction['keys'], data: Buffer) =>
  new TransactionInstruction({ programId: LOADER, keys, data })

export interface Deployment {
  readonly program: Keypair
  readonly buffer: Keypair
  readonly authority: Keypair
}

/** @throws Error with the error of the loader */
export const deployProgram = (svm: LocalSvm, file: Uint8Array, { program, buffer, authority }: Deployment): void => {
  const expectDone = (instructions: TransactionInstruction[], signers: Keypair[]): void => {
    const { error } = svm.run(instructions, signers)
    if (error !== null) throw new Error(`the loader refused: ${error}`)
  }
  const create = (made: PublicKey, space: number) =>
    SystemProgram.createAccount({
      fromPubkey: svm.payer.publicKey,
      newAccountPubkey: made,
      lamports: Number(svm.rentExemptLamports(space)),
      space,
      programId: LOADER,
    })
  const initialize = loader([writable(buffer.publicKey), readable(authority.publicKey)], words([INITIALIZE_BUFFER, 4]))
  expectDone([create(buffer.publicKey, BUFFER_HEADER + file.length), initialize], [buffer])
  for (let at = 0; at < file.length; at += CHUNK) {
    const piece = file.subarray(at, at + CHUNK)
    const data = Buffer.concat([words([WRITE, 4], [at, 4], [piece.length, 8]), piece])
    expectDone([loader([writable(buffer.publicKey), signing(authority.publicKey)], data)], [authority])
  }
  const deploy = loader(
    [
      { pubkey: svm.payer.publicKey, isWritable: true, isSigner: true },
      writable(programDataOf(program.publicKey)),
      writable(program.publicKey),
      writable(buffer.publicKey),
      readable(SYSVAR_RENT_PUBKEY),
      readable(SYSVAR_CLOCK_PUBKEY),
      readable(SystemProgram.programId),
      signing(authority.publicKey),
    ],
    words([DEPLOY, 4], [file.length, 8]),
  )
  expectDone([create(program.publicKey, PROGRAM_BYTES), deploy], [program, authority])
  svm.nextSlot()
}

/** Sets another upgrade authority, or none if `next` is null. */
export const setUpgradeAuthority = (
  svm: LocalSvm,
  { program, authority }: Deployment,
  next: PublicKey | null,
): void => {
  const keys = [writable(programDataOf(program.publicKey)), signing(authority.publicKey)]
  const { error } = svm.run(
    [loader(next === null ? keys : [...keys, readable(next)], words([SET_AUTHORITY, 4]))],
    [authority],
  )
  if (error !== null) throw new Error(`the loader refused: ${error}`)
}
