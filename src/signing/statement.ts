// The digests of v2 statements and v1 tasks on EVM chains. The public contracts rebuild and check these encodings, so any
// change invalidates every attestation. A task's digest holds no chain id, because the v1 contracts never had one. Source:
// decisions §2, "What EVM signs", and §3, "Digest".
import { createAbiWriter } from './abi-writer.ts'
import { StatementInvalidError } from './errors.ts'
import type { Keccak256, Statement } from './types.ts'

/** Keccak-256 over a statement's encoding: 32 bytes. @throws StatementInvalidError */
export type StatementDigester = (statement: Statement, policy: string, chainId: number) => Uint8Array

/**
 * Creates a digester of `keccak256(abi.encode(uint256 chainId, string uuid, address from, address to, uint256 msgValue,
 * bytes data, string policy, uint256 expiration))`. It reuses one buffer, so each thread must create its own. The
 * returned 32 bytes come from `keccak`: with loadKeccak256 they are fresh, and the caller may keep them.
 */
export const createStatementDigester = (keccak: Keccak256): StatementDigester => {
  const writer = createAbiWriter(8)
  return ({ uuid, request, expiration }, policy, chainId) => {
    writer.begin()
    writer.uint(0, chainId)
    writer.text(1, uuid)
    writer.address(2, request.from)
    writer.address(3, request.to)
    writer.uint256(4, BigInt(request.value))
    writer.bytes(5, request.data)
    writer.text(6, policy)
    writer.uint(7, expiration)
    return keccak(writer.encoded())
  }
}

/** Keccak-256 over a task's encoding: 32 bytes. @throws StatementInvalidError */
export type TaskDigester = (task: Statement, policy: string, quorum: number) => Uint8Array

const MAX_UINT32 = 2 ** 32 - 1

/**
 * Creates a digester of `keccak256(abi.encode(string taskId, address from, address to, uint256 value, bytes data,
 * string policyID, uint32 quorum, uint256 expiry))`. It reuses one buffer, so each thread must create its own.
 */
export const createTaskDigester = (keccak: Keccak256): TaskDigester => {
  const writer = createAbiWriter(8)
  return ({ uuid, request, expiration }, policy, quorum) => {
    if (quorum > MAX_UINT32) throw new StatementInvalidError("a task's quorum is not a uint32")
    writer.begin()
    writer.text(0, uuid)
    writer.address(1, request.from)
    writer.address(2, request.to)
    writer.uint256(3, BigInt(request.value))
    writer.bytes(4, request.data)
    writer.text(5, policy)
    writer.uint(6, quorum)
    writer.uint(7, expiration)
    return keccak(writer.encoded())
  }
}
