// A Solana virtual machine inside the process, with the Ed25519 program: sends instructions and says how they ended.
// The machine is native code from an optional package, so a suite that needs it is skipped where there is none.
import { describe, test } from 'bun:test'
import { Keypair, type PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js'
import { programDataOf } from '../../src/client/solana-accounts.ts'
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

export interface SvmAccount {
  readonly owner: PublicKey
  readonly lamports: number
  readonly data: Uint8Array
  readonly executable: boolean
}

export interface SvmOutcome {
  /** Null when the transaction succeeded. */
  readonly error: string | null
  readonly computeUnits: number
  readonly returned: Uint8Array
}

export interface LocalSvm {
  /** Pays for every transaction. */
  readonly payer: Keypair
  /** Runs one transaction of these instructions. Signers beside the payer whom no instruction wants do not sign. */
  run(instructions: readonly TransactionInstruction[], signers?: readonly Keypair[]): SvmOutcome
  /** Runs a transaction that somebody else made and signed, over this block hash. */
  runSigned(transaction: Transaction): SvmOutcome
  latestBlockhash(): string
  account(address: PublicKey): SvmAccount | null
  /** Puts an account there that no transaction made. */
  setAccount(address: PublicKey, account: SvmAccount): void
  give(address: PublicKey, lamports: bigint): void
  /** The clock of the machine, in Unix seconds. */
  setSeconds(seconds: bigint): void
  /** A deployed program can be called from the slot after its own. */
  nextSlot(): void
  rentExemptLamports(bytes: number): bigint
  /** Puts a program there, without the loader: deployProgram() asks it. */
  addProgram(address: PublicKey, file: Uint8Array, upgradeAuthority: PublicKey): void
}

/** @param rules `all`: with every feature that this version of the runtime knows, active on a cluster or not */
export const startLocalSvm = (rules: 'usual' | 'all' = 'usual'): LocalSvm => {
  if (liteSvm === null) throw new Error('litesvm is not installed')
  const { FailedTransactionMetadata, FeatureSet, LiteSVM } = liteSvm
  const svm = new LiteSVM()
  if (rules === 'all') svm.withFeatureSet(FeatureSet.allEnabled()).withBuiltins().withPrecompiles()
  const payer = Keypair.fromSeed(testKey(100))
  svm.airdrop(payer.publicKey, 1_000_000_000_000n)
  const runSigned: LocalSvm['runSigned'] = (transaction) => {
    const outcome = svm.sendTransaction(transaction)
    // The next transaction may be the same one: with the same block hash it would be refused as a duplicate.
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
      if (made === null) throw new Error('the machine keeps programs in another way')
      made.data.set([1], 12)
      made.data.set(upgradeAuthority.toBytes(), 13)
      svm.setAccount(programData, made)
    },
  }
}
