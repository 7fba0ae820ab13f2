// Encodes one flat tuple with the contract ABI into a reused buffer: static values in the head, strings and bytes in
// the tail. Handwritten, because it runs for every attestation. Source: Solidity's contract ABI specification, "Formal
// Specification of the Encoding".
import { StatementInvalidError } from './errors.ts'

const WORD_BYTES = 32
const MAX_UINT64 = 2n ** 64n - 1n
const MAX_UINT256 = 2n ** 256n - 1n
/** Maximum size of calldata in a statement, in bytes (decisions §2, `data`). */
export const MAX_DATA_BYTES = 64 * 1024

/**
 * Each method writes the head word with the given index, and throws StatementInvalidError if the value cannot be
 * encoded.
 */
export interface AbiWriter {
  /** Starts a new tuple: zeros the head and discards the tail. */
  begin(): void
  /** Writes an unsigned integer of at most 2^53 - 1. */
  uint(word: number, value: number): void
  uint256(word: number, value: bigint): void
  /** @param address `0x` and 40 hexadecimal digits */
  address(word: number, address: string): void
  /** @param hex `0x` and an even number of hexadecimal digits, at most 64 KiB of data */
  bytes(word: number, hex: string): void
  /** Writes UTF-8. A lone surrogate becomes U+FFFD. */
  text(word: number, text: string): void
  /** Returns the encoding as a view, which the next `begin` invalidates. */
  encoded(): Uint8Array
}

/** @param headWords number of the tuple's members */
export const createAbiWriter = (headWords: number): AbiWriter => {
  const headBytes = headWords * WORD_BYTES
  let buffer = Buffer.alloc(1024)
  let view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
  let end = headBytes

  const reserve = (byteCount: number): void => {
    if (end + byteCount <= buffer.length) return
    const larger = Buffer.alloc(Math.max(buffer.length * 2, end + byteCount))
    larger.set(buffer.subarray(0, end))
    buffer = larger
    view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
  }

  const writeUint = (at: number, value: number): void => {
    view.setUint32(at + 24, Math.floor(value / 2 ** 32))
    view.setUint32(at + 28, value % 2 ** 32)
  }

  /**
   * Reserves space for a length word and `byteCount` bytes, points the head to it, and returns the offset of the bytes.
   */
  const openTail = (word: number, byteCount: number): number => {
    reserve(WORD_BYTES + byteCount + WORD_BYTES)
    writeUint(word * WORD_BYTES, end)
    return end + WORD_BYTES
  }

  const closeTail = (start: number, byteCount: number): void => {
    buffer.fill(0, end, start)
    writeUint(end, byteCount)
    end = start + Math.ceil(byteCount / WORD_BYTES) * WORD_BYTES
    for (let i = start + byteCount; i < end; i++) buffer[i] = 0
  }

  // Buffer's hex decoder accepts U+0130 as "0". This function accepts only hexadecimal digits.
  const writeHex = (at: number, hex: string, byteCount: number): void => {
    if (byteCount === 0) return
    try {
      buffer.subarray(at, at + byteCount).setFromHex(hex.slice(2))
    } catch {
      throw new StatementInvalidError('a statement holds text that is not hex')
    }
  }

  return {
    begin: () => {
      buffer.fill(0, 0, headBytes)
      end = headBytes
    },
    uint: (word, value) => {
      if (!Number.isSafeInteger(value) || value < 0) {
        throw new StatementInvalidError('a number in a statement is not an unsigned integer below 2^53')
      }
      writeUint(word * WORD_BYTES, value)
    },
    uint256: (word, value) => {
      if (value < 0n || value > MAX_UINT256) throw new StatementInvalidError('a value in a statement is not a uint256')
      const at = word * WORD_BYTES
      // setBigUint64 takes its argument modulo 2^64.
      view.setBigUint64(at + 24, value)
      if (value <= MAX_UINT64) return
      view.setBigUint64(at + 16, value >> 64n)
      view.setBigUint64(at + 8, value >> 128n)
      view.setBigUint64(at, value >> 192n)
    },
    address: (word, address) => {
      if (address.length !== 42 || !address.startsWith('0x')) {
        throw new StatementInvalidError('an address in a statement is not 0x and 40 hex digits')
      }
      writeHex(word * WORD_BYTES + 12, address, 20)
    },
    bytes: (word, hex) => {
      const byteCount = (hex.length - 2) / 2
      if (!hex.startsWith('0x') || !Number.isInteger(byteCount) || byteCount > MAX_DATA_BYTES) {
        throw new StatementInvalidError('data in a statement is not 0x hex of at most 64 KiB')
      }
      const start = openTail(word, byteCount)
      writeHex(start, hex, byteCount)
      closeTail(start, byteCount)
    },
    text: (word, text) => {
      // A UTF-16 code unit takes at most three bytes in UTF-8.
      const start = openTail(word, text.length * 3)
      closeTail(start, buffer.write(text, start))
    },
    encoded: () => buffer.subarray(0, end),
  }
}
