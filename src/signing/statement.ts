// Digests of v2 statements and v1 tasks on EVM chains. The public contracts rebuild and verify these encodings, so any
// change invalidates every attestation. A task's digest contains no chain id, because the v1 contracts do not have one.
// Source: decisions §2, "What EVM signs", and §3, "Digest".
import { createAbiWriter } from './abi-writer.ts'
import { StatementInvalidError } from './errors.ts'
import type { Keccak256, Statement } from './types.ts'

/** Returns the Keccak-256 hash of a statement's encoding: 32 bytes. @throws StatementInvalidError */
export type StatementDigester = (statement: Statement, policy: string, chainId: number) => Uint8Array

/**
 * Creates a digester of `keccak256(abi.encode(uint256 chainId, string uuid, address from, address to, uint256 msgValue,
 * bytes data, string policy, uint256 expiration))`. It reuses one buffer, so each thread must create its own. With
 * loadKeccak256, the returned bytes are a new array, which the caller may keep.
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

/** Returns the Keccak-256 hash of a task's encoding: 32 bytes. @throws StatementInvalidError */
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
