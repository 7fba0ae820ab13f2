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

export interface LocalSvm {
  /** Pays for every transaction. */
  readonly payer: Keypair
  /** Runs one transaction of these instructions, signed by the payer and by required signers only. */
  run(instructions: readonly TransactionInstruction[], signers?: readonly Keypair[]): SvmOutcome
  /** Runs a signed transaction with the latest block hash. */
  runSigned(transaction: Transaction): SvmOutcome
  latestBlockhash(): string
  account(address: PublicKey): SvmAccount | null
  /** Sets an account without a transaction. */
  setAccount(address: PublicKey, account: SvmAccount): void
  give(address: PublicKey, lamports: bigint): void
  /** The clock of the machine, in Unix seconds. */
  setSeconds(seconds: bigint): void
  /** Advances the slot, because a program can be called only after the slot of its deployment. */
  nextSlot(): void
  rentExemptLamports(bytes: number): bigint
  /** Sets a program without the loader, which deployProgram() uses. */
  addProgram(address: PublicKey, file: Uint8Array, upgradeAuthority: PublicKey): void
}

/** @param rules `all`: with every feature of this runtime, active on a cluster or not */
export const startLocalSvm = (rules: 'usual' | 'all' = 'usual'): LocalSvm => {
  if (liteSvm === null) throw new Error('litesvm is not installed')
  const { FailedTransactionMetadata, FeatureSet, LiteSVM } = liteSvm
  const svm = new LiteSVM()
  if (rules === 'all') svm.withFeatureSet(FeatureSet.allEnabled()).withBuiltins().withPrecompiles()
  const payer = Keypair.fromSeed(testKey(100))
  svm.airdrop(payer.publicKey, 1_000_000_000_000n)
  const runSigned: LocalSvm['runSigned'] = (transaction) => {
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
  const run: LocalSvm['run'] = (instructions, signers = []) => {
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
    payer,
    run,
    runSigned,
    latestBlockhash: () => svm.latestBlockhash(),
    account: (address) => svm.getAccount(address),
    setAccount: (address, account) => svm.setAccount(address, { ...account, rentEpoch: 0 }),
    give: (address, lamports) => void svm.airdrop(address, lamports),
    setSeconds: (seconds) => {
      const clock = svm.getClock()
      clock.unixTimestamp = seconds
      svm.setClock(clock)
    },
    nextSlot: () => {
      const clock = svm.getClock()
      clock.slot += 1n
      svm.setClock(clock)
    },
    rentExemptLamports: (bytes) => svm.minimumBalanceForRentExemption(BigInt(bytes)),
    addProgram: (address, file, upgradeAuthority) => {
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
