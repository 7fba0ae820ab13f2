// Reference digests of statements, calculated with libraries and concatenation.
import { createHash } from 'node:crypto'
import bs58 from 'bs58'
import { encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from 'viem'
import type { EvmStatement, SolanaStatement, TaskStatement } from './statements.ts'

const STATEMENT = parseAbiParameters('uint256, string, address, address, uint256, bytes, string, uint256')
const TASK = parseAbiParameters('string, address, address, uint256, bytes, string, uint32, uint256')

export const referenceStatementDigest = (statement: EvmStatement): string =>
  keccak256(
    encodeAbiParameters(STATEMENT, [
      BigInt(statement.chainId),
      statement.uuid,
      statement.from as Hex,
      statement.to as Hex,
      statement.value,
      statement.data as Hex,
      statement.policy,
      BigInt(statement.expirationSeconds),
    ]),
  )

export const referenceTaskDigest = (task: TaskStatement): string =>
  keccak256(
    encodeAbiParameters(TASK, [
      task.taskId,
      task.from as Hex,
      task.to as Hex,
      task.value,
      task.data as Hex,
      task.policy,
      task.quorum,
      BigInt(task.expiry),
    ]),
  )

const littleEndian = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

export const referenceSolanaMessage = (prefix: string, statement: SolanaStatement): string =>
  sha256(
    Buffer.concat([
      Buffer.from(prefix, 'ascii'),
      Buffer.from(statement.uuid.replaceAll('-', ''), 'hex'),
      bs58.decode(statement.from),
      bs58.decode(statement.to),
      littleEndian(statement.lamports),
      sha256(Buffer.from(statement.data.slice(2), 'hex')),
      sha256(Buffer.from(statement.policy, 'utf8')),
      littleEndian(BigInt(statement.expirationSeconds)),
    ]),
  ).toString('hex')
