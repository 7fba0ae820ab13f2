// Digests of v2 statements and v1 tasks on EVM chains. The public contracts rebuild these encodings, so any change
// invalidates every attestation. Source: decisions §2, "What EVM signs", and §3, "Digest".

import { createKeccak } from 'hash-wasm'
import { AbiWriter } from './abi-writer.ts'
import { StatementInvalidError } from './errors.ts'
import type { Keccak256, Statement } from './types.ts'

/** Returns 32 bytes. @throws StatementInvalidError */
export type StatementDigester = (statement: Statement, verificationHash: string, chainId: number) => Uint8Array

/**
 * Digests `keccak256(abi.encode(uint256 chainId, string uuid, address from, address to, uint256 msgValue, bytes data,
 * string policy, uint256 expiration))`. Not shareable between threads, because it reuses a buffer.
 */
export const createStatementDigester = (keccak: Keccak256): StatementDigester => {
  const writer = new AbiWriter(8)
  return ({ uuid, request, expiration }, verificationHash, chainId) => {
    writer.begin()
    writer.uint(0, chainId)
    writer.text(1, uuid)
    writer.address(2, request.from)
    writer.address(3, request.to)
    writer.uint256(4, BigInt(request.value))
    writer.bytes(5, request.data)
    writer.text(6, verificationHash)
    writer.uint(7, expiration)
    return keccak(writer.encoded())
  }
}

/** 32 bytes. @throws StatementInvalidError */
export type TaskDigester = (task: Statement, verificationHash: string, quorum: number) => Uint8Array

const MAX_UINT32 = 2 ** 32 - 1

/**
 * Digests `keccak256(abi.encode(string taskId, address from, address to, uint256 value, bytes data, string policyID,
 * uint32 quorum, uint256 expiry))`. The v1 contracts include no chain id. Not shareable between threads, because it
 * reuses a buffer.
 */
export const createTaskDigester = (keccak: Keccak256): TaskDigester => {
  const writer = new AbiWriter(8)
  return ({ uuid, request, expiration }, verificationHash, quorum) => {
    if (quorum > MAX_UINT32) throw new StatementInvalidError('the quorum of a task must be a uint32')
    writer.begin()
    writer.text(0, uuid)
    writer.address(1, request.from)
    writer.address(2, request.to)
    writer.uint256(3, BigInt(request.value))
    writer.bytes(4, request.data)
    writer.text(5, verificationHash)
    writer.uint(6, quorum)
    writer.uint(7, expiration)
    return keccak(writer.encoded())
  }
}

/** Returns Keccak-256 with the original padding instead of the FIPS 202 padding. Use it only on the calling thread. */
export const loadKeccak256 = async (): Promise<Keccak256> => {
  const hasher = await createKeccak(256)
  return (bytes) => hasher.init().update(bytes).digest('binary')
}
