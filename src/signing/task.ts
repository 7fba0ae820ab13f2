// The digest of a v1 task. It holds no chain id, because the v1 contracts never had one. Source: decisions §3,
// "Digest".
import { createAbiWriter } from './abi-writer.ts'
import { StatementInvalidError } from './errors.ts'
import type { Keccak256, Statement } from './types.ts'

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
