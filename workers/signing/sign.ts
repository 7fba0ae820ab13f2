// Chooses the keys and the digest for a compliant verdict. v2: the first active key of the chain's family. v1: the
// first active EVM keys up to the policy's quorum, in ascending order of address (decisions §2 and §3).

import type { Target } from '../../src/domain/target.ts'
import { DetailedError } from '../../src/lib/named-error.ts'
import type { SignableJob } from '../../src/pool/protocol.ts'
import type { SolanaMessageBuilder } from '../../src/signing/solana-message.ts'
import type { StatementDigester, TaskDigester } from '../../src/signing/statement.ts'
import type { EvmAttester, Keyring } from '../../src/signing/types.ts'

/** There are fewer active keys than signatures that the job needs. */
export class AttestersMissingError extends DetailedError {}

export interface Signatures {
  /** Checksummed EVM addresses or base58 public keys, in the order of `signatures`. */
  readonly attesters: readonly string[]
  readonly signatures: readonly string[]
}

export interface Digesters {
  readonly statement: StatementDigester
  readonly task: TaskDigester
  readonly solanaMessage: SolanaMessageBuilder
}

/** @throws AttestersMissingError, StatementInvalidError or SignerUnusableError */
export type Sign = (job: SignableJob, target: Target) => Signatures

const byAddress = (left: EvmAttester, right: EvmAttester): number => (left.order < right.order ? -1 : 1)

/** Selects keys with distinct addresses, because a contract counts equal addresses as one signer. */
const createQuorums = (keyring: Keyring): ((quorum: number) => readonly EvmAttester[]) => {
  const distinct = [...new Map(keyring.evm.map((attester) => [attester.order, attester])).values()]
  return (quorum) => {
    if (quorum < 1 || distinct.length < quorum) {
      throw new AttestersMissingError("not enough attester keys for the policy's quorum")
    }
    return distinct.slice(0, quorum).sort(byAddress)
  }
}

/** The keyring must stay open while the signer is in use. */
export const createSign = (keyring: Keyring, digesters: Digesters): Sign => {
  const signersFor = createQuorums(keyring)
  const [evmAttester] = keyring.evm
  const [solanaAttester] = keyring.solana
  const missing = (family: string): AttestersMissingError =>
    new AttestersMissingError(`no attester key is active for ${family} chains`)

  const signTask: Sign = (job, target) => {
    const signers = signersFor(target.quorum)
    const digest = digesters.task(job, target.verificationHash, target.quorum)
    return {
      attesters: signers.map((signer) => signer.address),
      signatures: signers.map((signer) => signer.signDigest(digest)),
    }
  }

  const signEvm = (job: SignableJob, target: Target, chainId: number): Signatures => {
    if (evmAttester === undefined) throw missing('EVM')
    const digest = digesters.statement(job, target.verificationHash, chainId)
    return { attesters: [evmAttester.address], signatures: [evmAttester.signDigest(digest)] }
  }

  const signSolana: Sign = (job, target) => {
    if (solanaAttester === undefined) throw missing('Solana')
    const message = digesters.solanaMessage(job, target.verificationHash)
    return { attesters: [solanaAttester.address], signatures: [solanaAttester.signMessage(message)] }
  }

  return (job, target) => {
    if (job.kind === 'task') return signTask(job, target)
    const { chain } = job.request
    return chain.family === 'evm' ? signEvm(job, target, chain.chainId) : signSolana(job, target)
  }
}
