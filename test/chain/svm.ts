// A Solana virtual machine inside the process, with the Ed25519 program: sends instructions and says how they ended.
// The machine is native code from an optional package, so a suite that needs it is skipped where there is none.
import { describe, test } from 'bun:test'
import { Keypair, Transaction, type TransactionInstruction } from '@solana/web3.js'
import { testKey } from '../signing/test-keys.ts'

type LiteSvmModule = typeof import('litesvm')

const load = async (): Promise<LiteSvmModule | null> => {
  try {
    return await import('litesvm')
  } catch {
    // No native build for this platform: the suite's name says so.
    return null
  }
}

const liteSvm = await load()

export const describeOnSvm = (name: string, define: () => void): void => {
  if (liteSvm !== null) describe(name, define)
  else test.skipIf(true)(`${name} (no litesvm build for ${process.platform} ${process.arch})`, () => undefined)
}

export interface LocalSvm {
  /** Runs one transaction of these instructions. Null when it succeeded, otherwise the machine's error. */
  send(...instructions: readonly TransactionInstruction[]): string | null
}

export const startLocalSvm = (): LocalSvm => {
  if (liteSvm === null) throw new Error('litesvm is not installed')
  const { FailedTransactionMetadata, LiteSVM } = liteSvm
  const svm = new LiteSVM()
  const payer = Keypair.fromSeed(testKey(100))
  svm.airdrop(payer.publicKey, 1_000_000_000_000n)
  return {
    send(...instructions) {
      const transaction = new Transaction()
      transaction.recentBlockhash = svm.latestBlockhash()
      transaction.feePayer = payer.publicKey
      transaction.add(...instructions)
      transaction.sign(payer)
      const outcome = svm.sendTransaction(transaction)
      // The next transaction may be the same one: with the same block hash it would be refused as a duplicate.
      svm.expireBlockhash()
      return outcome instanceof FailedTransactionMetadata ? outcome.err().toString() : null
    },
  }
}
