// The digest of a v2 statement on EVM chains. The public registry contract rebuilds and checks this encoding, so any
// change invalidates every attestation. Source: decisions §2, "What EVM signs".
import { createAbiWriter } from './abi-writer.ts'
import type { EvmStatement, Keccak256 } from './types.ts'

/** Keccak-256 over a statement's encoding: 32 bytes. @throws StatementInvalidError */
export type StatementDigester = (statement: EvmStatement) => Uint8Array

/**
 * Creates a digester of `keccak256(abi.encode(uint256 chainId, string uuid, address from, address to, uint256 msgValue,
 * bytes data, string policy, uint256 expiration))`. It reuses one buffer, so each thread must create its own. The
 * returned 32 bytes come from `keccak`: with loadKeccak256 they are fresh, and the caller may keep them.
 */
export const createStatementDigester = (keccak: Keccak256): StatementDigester => {
  const writer = createAbiWriter(8)
  return (statement) => {
    writer.begin()
    writer.uint(0, statement.chainId)
    writer.text(1, statement.uuid)
    writer.address(2, statement.from)
    writer.address(3, statement.to)
    writer.uint256(4, statement.value)
    writer.bytes(5, statement.data)
    writer.text(6, statement.policy)
    writer.uint(7, statement.expirationSeconds)
    return keccak(writer.encoded())
  }
}
