// Accounts and errors that the tests of the registry program's administration share.
import type { Keypair, TransactionInstruction } from '@solana/web3.js'
import { createSolanaWorld, errorOf, keypair } from './solana-world.ts'

export const UNAUTHORIZED = 6002
export const INVALID_AUTHORITY = 6003
export const WRONG_ADDRESS = 2006
export const UNSIGNED = /MissingRequiredSignature/

/** Authority of the registry. */
export const authority = keypair(112)
/** Upgrade authority of the guarded program. */
export const upgrader = keypair(122)
export const stranger = keypair(150)
export const next = keypair(151)

/** Creates a world in which the stranger and the next authority have lamports. */
export const createAdministeredWorld = () => {
  const world = createSolanaWorld()
  for (const { publicKey } of [stranger, next]) world.svm.give(publicKey, 10_000_000_000n)
  const run = (instruction: TransactionInstruction, ...signers: readonly Keypair[]) =>
    errorOf(world.svm.run([instruction], signers))
  return { world, run }
}
