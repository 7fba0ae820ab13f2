// The digest of a v1 task. It holds no chain id, because the v1 contracts never had one. Source: decisions §3,
// "Digest".
import { createAbiWriter } from './abi-writer.ts'
import { StatementInvalidError } from './errors.ts'
import type { Keccak256, TaskStatement } from './types.ts'

/** Keccak-256 over a task's encoding: 32 bytes. @throws StatementInvalidError */
export type TaskDigester = (task: TaskStatement) => Uint8Array

const MAX_UINT32 = 2 ** 32 - 1

/**
 * Creates a digester of `keccak256(abi.encode(string taskId, address from, address to, uint256 value, bytes data,
 * string policyID, uint32 quorum, uint256 expiry))`. It reuses one buffer, so each thread must create its own.
 */
export const createTaskDigester = (keccak: Keccak256): TaskDigester => {
  const writer = createAbiWriter(8)
  return (task) => {
    if (task.quorum > MAX_UINT32) throw new StatementInvalidError("a task's quorum is not a uint32")
    writer.begin()
    writer.text(0, task.taskId)
    writer.address(1, task.from)
    writer.address(2, task.to)
    writer.uint256(3, task.value)
    writer.bytes(4, task.data)
    writer.text(5, task.policy)
    writer.uint(6, task.quorum)
    writer.uint(7, task.expiry)
    return keccak(writer.encoded())
  }
}
