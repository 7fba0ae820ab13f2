// The digest of a v2 statement on EVM chains. The public registry contract rebuilds and checks this encoding, so any
// change invalidates every attestation. Source: decisions §2, "What EVM signs".
import { createAbiWriter } from './abi-writer.ts'
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
