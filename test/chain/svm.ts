// A Solana virtual machine in the process, with the Ed25519 program. Its native code is an optional package; suites that
// need it are skipped without it.
import { describe, test } from 'bun:test'
import { Keypair, type PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js'
import { programDataOf } from '../../src/client/solana-accounts.ts'
import { testKey } from '../signing/test-keys.ts'

type LiteSvmModule = typeof import('litesvm')

const load = async (): Promise<LiteSvmModule | null> => {
  try {
    return await import('litesvm')
  } catch {
    // Without a native build, the suites are skipped.
    return null
  }
}

const liteSvm = await load()

export const describeOnSvm = (name: string, define: () => void): void => {
  if (liteSvm !== null) describe(name, define)
  else test.skipIf(true)(`${name} (no litesvm build for ${process.platform} ${process.arch})`, () => undefined)
}

export interface SvmAccount {
  readonly owner: PublicKey
  readonly lamports: number
  readonly data: Uint8Array
  readonly executable: boolean
}

export interface SvmOutcome {
  /** Null if the transaction succeeded. */
  readonly error: string | null
  readonly computeUnits: number
  readonly returned: Uint8Array
}

/** @param rules `all`: with every feature of this runtime, even if it is not active on a cluster */
export const startLocalSvm = (rules: 'usual' | 'all' = 'usual') => {
  if (liteSvm === null) throw new Error('litesvm is not installed')
  const { FailedTransactionMetadata, FeatureSet, LiteSVM } = liteSvm
  const svm = new LiteSVM()
  if (rules === 'all') svm.withFeatureSet(FeatureSet.allEnabled()).withBuiltins().withPrecompiles()
  const payer = Keypair.fromSeed(testKey(100))
  svm.airdrop(payer.publicKey, 1_000_000_000_000n)
  /** Runs a signed transaction with the latest block hash. */
  const runSigned = (transaction: Transaction): SvmOutcome => {
    const outcome = svm.sendTransaction(transaction)
    // With the same block hash, an equal transaction would be refused as a duplicate.
    svm.expireBlockhash()
    const failed = outcome instanceof FailedTransactionMetadata
    const meta = failed ? outcome.meta() : outcome
    return {
      error: failed ? outcome.err().toString() : null,
      computeUnits: Number(meta.computeUnitsConsumed()),
      returned: meta.returnData().data(),
    }
  }
  /** Runs one transaction of these instructions, signed by the payer and by required signers only. */
  const run = (instructions: readonly TransactionInstruction[], signers: readonly Keypair[] = []): SvmOutcome => {
    const transaction = new Transaction()
    transaction.recentBlockhash = svm.latestBlockhash()
    transaction.feePayer = payer.publicKey
    transaction.add(...instructions)
    const wanted = new Set(
      instructions.flatMap(({ keys }) => keys.flatMap((key) => (key.isSigner ? [key.pubkey.toBase58()] : []))),
    )
    transaction.sign(payer, ...signers.filter(({ publicKey }) => wanted.has(publicKey.toBase58())))
    return runSigned(transaction)
  }
  return {
    /** Pays for every transaction. */
    payer,
    run,
    runSigned,
    latestBlockhash: () => svm.latestBlockhash(),
    account: (address: PublicKey): SvmAccount | null => svm.getAccount(address),
    /** Sets an account without a transaction. */
    setAccount: (address: PublicKey, account: SvmAccount) => svm.setAccount(address, { ...account, rentEpoch: 0 }),
    give: (address: PublicKey, lamports: bigint) => void svm.airdrop(address, lamports),
    /** Sets the clock of the machine, in Unix seconds. */
    setSeconds: (seconds: bigint) => {
      const clock = svm.getClock()
      clock.unixTimestamp = seconds
      svm.setClock(clock)
    },
    /** Advances the slot, because a program can be called only after the slot of its deployment. */
    nextSlot: () => {
      const clock = svm.getClock()
      clock.slot += 1n
      svm.setClock(clock)
    },
    rentExemptLamports: (bytes: number) => svm.minimumBalanceForRentExemption(BigInt(bytes)),
    /** Sets a program without the loader, which deployProgram() uses. */
    addProgram: (address: PublicKey, file: Uint8Array, upgradeAuthority: PublicKey) => {
      svm.addProgram(address, file)
      const programData = programDataOf(address)
      const made = svm.getAccount(programData)
      if (made === null) throw new Error('the machine has no program data account')
      made.data.set([1], 12)
      made.data.set(upgradeAuthority.toBytes(), 13)
      svm.setAccount(programData, made)
    },
  }
}

export type LocalSvm = ReturnType<typeof startLocalSvm>
