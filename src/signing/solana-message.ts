// Builds the message of a v2 statement on Solana: SHA-256 of a fixed layout that the registry program rebuilds. The
// layout does not name the cluster: use separate attester keys per cluster. Source: decisions §2, "What Solana signs".
import bs58 from 'bs58'
import { MAX_DATA_BYTES } from './abi-writer.ts'
import { StatementInvalidError } from './errors.ts'
import type { Statement } from './types.ts'

/** Prefix that the deployed registry program expects; 28 ASCII bytes. */
export const DEFAULT_SOLANA_MESSAGE_PREFIX = 'predicate_solana_attestation'

const MAX_UINT64 = 2n ** 64n - 1n
const LAYOUT_BYTES_AFTER_PREFIX = 160
const UUID_PATTERN = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/

/** Returns the 32 bytes to sign, as a view that the next call overwrites. @throws StatementInvalidError */
export type SolanaMessageBuilder = (statement: Statement, verificationHash: string) => Uint8Array

/**
 * Builds messages. Layout after the prefix: uuid (16), from (32), to (32), lamports u64 LE (8), SHA-256 of data (32),
 * SHA-256 of the verification hash's UTF-8 (32), expiration i64 LE (8). Not shareable between threads, because it
 * reuses buffers. @throws StatementInvalidError if the prefix is not 1 to 64 visible ASCII characters
 */
export const createSolanaMessageBuilder = (prefix = DEFAULT_SOLANA_MESSAGE_PREFIX): SolanaMessageBuilder => {
  if (!/^[\x21-\x7e]{1,64}$/.test(prefix)) {
    throw new StatementInvalidError('the Solana message prefix must be 1 to 64 visible ASCII characters')
  }
  const start = prefix.length
  const layout = Buffer.alloc(start + LAYOUT_BYTES_AFTER_PREFIX)
  layout.write(prefix)
  const uuid = layout.subarray(start, start + 16)
  const dataHash = layout.subarray(start + 88, start + 120)
  const policyHash = layout.subarray(start + 120, start + 152)
  const message = new Uint8Array(32)
  let data = new Uint8Array(1024)

  const writeAddress = (at: number, address: string): void => {
    const bytes = bs58.decodeUnsafe(address)
    if (bytes?.length !== 32) throw new StatementInvalidError('an address in a statement must be 32 bytes in base58')
    layout.set(bytes, at)
  }

  const dataBytes = (hex: string): Uint8Array => {
    const byteCount = (hex.length - 2) / 2
    if (!hex.startsWith('0x') || !Number.isInteger(byteCount) || byteCount > MAX_DATA_BYTES) {
      throw new StatementInvalidError('data in a statement must be 0x followed by hex digits, at most 64 KiB')
    }
    if (byteCount > data.length) data = new Uint8Array(byteCount)
    const bytes = data.subarray(0, byteCount)
    try {
      bytes.setFromHex(hex.slice(2))
    } catch {
      throw new StatementInvalidError('a value in a statement is not valid hex')
    }
    return bytes
  }

  return (statement, verificationHash) => {
    const { request, expiration } = statement
    const lamports = BigInt(request.value)
    if (!UUID_PATTERN.test(statement.uuid)) throw new StatementInvalidError("a statement's uuid is not a UUID")
    if (lamports < 0n || lamports > MAX_UINT64) {
      throw new StatementInvalidError('the lamports of a statement must be a u64')
    }
    if (!Number.isSafeInteger(expiration) || expiration < 0) {
      throw new StatementInvalidError('a number in a statement must be an unsigned integer below 2^53')
    }
    uuid.setFromHex(statement.uuid.replaceAll('-', ''))
    writeAddress(start + 16, request.from)
    writeAddress(start + 48, request.to)
    layout.writeBigUInt64LE(lamports, start + 80)
    Bun.SHA256.hash(dataBytes(request.data), dataHash)
    Bun.SHA256.hash(verificationHash, policyHash)
    layout.writeBigInt64LE(BigInt(expiration), start + 152)
    Bun.SHA256.hash(layout, message)
    return message
  }
}
