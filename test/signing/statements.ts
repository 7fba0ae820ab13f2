// Signed statements in the form of the published encodings, and their digests by the builders of the service.
import { createSolanaMessageBuilder } from '../../src/signing/solana-message.ts'
import { createStatementDigester, createTaskDigester } from '../../src/signing/statement.ts'
import type { Keccak256, Statement } from '../../src/signing/types.ts'
import { requestOf } from '../support/request.ts'

interface Signed {
  readonly from: string
  readonly to: string
  readonly data: string
  readonly policy: string
}

export interface EvmStatement extends Signed {
  readonly chainId: number
  readonly uuid: string
  readonly value: bigint
  readonly expirationSeconds: number
}

export interface TaskStatement extends Signed {
  readonly taskId: string
  readonly value: bigint
  readonly quorum: number
  readonly expiry: number
}

export interface SolanaStatement extends Signed {
  readonly uuid: string
  readonly lamports: bigint
  readonly expirationSeconds: number
}

const statementOf = (uuid: string, { from, to, data }: Signed, value: bigint, expiration: number): Statement => ({
  uuid,
  request: requestOf({ from, to, data, value: String(value) }),
  expiration,
})

export const statementDigester = (keccak: Keccak256) => {
  const digest = createStatementDigester(keccak)
  return (signed: EvmStatement): Uint8Array =>
    digest(statementOf(signed.uuid, signed, signed.value, signed.expirationSeconds), signed.policy, signed.chainId)
}

export const taskDigester = (keccak: Keccak256) => {
  const digest = createTaskDigester(keccak)
  return (signed: TaskStatement): Uint8Array =>
    digest(statementOf(signed.taskId, signed, signed.value, signed.expiry), signed.policy, signed.quorum)
}

export const solanaMessageBuilder = (prefix?: string) => {
  const build = createSolanaMessageBuilder(prefix)
  return (signed: SolanaStatement): Uint8Array =>
    build(statementOf(signed.uuid, signed, signed.lamports, signed.expirationSeconds), signed.policy)
}
