// Encodes the tuples that EVM contracts rebuild. Source: Solidity's contract ABI specification, "Formal Specification of
// the Encoding".
import { StatementInvalidError } from './errors.ts'

const WORD_BYTES = 32
const MAX_UINT64 = 2n ** 64n - 1n
const MAX_UINT256 = 2n ** 256n - 1n
/** Maximum calldata in a statement, in bytes (decisions §2, `data`). */
export const MAX_DATA_BYTES = 64 * 1024

/**
 * Encodes one flat tuple with the contract ABI into a reused buffer: static values in the head, strings and bytes in
 * the tail. Each method writes the head word with the given index, or throws StatementInvalidError.
 */
export class AbiWriter {
  private buffer = Buffer.alloc(1024)
  private view = new DataView(this.buffer.buffer, this.buffer.byteOffset, this.buffer.length)
  private readonly headBytes: number
  private end: number

  constructor(headWords: number) {
    this.headBytes = headWords * WORD_BYTES
    this.end = this.headBytes
  }

  /** Starts a new tuple: zeros the head and discards the tail. */
  begin(): void {
    this.buffer.fill(0, 0, this.headBytes)
    this.end = this.headBytes
  }

  /** @param value at most 2^53 - 1 */
  uint(word: number, value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new StatementInvalidError('a number in a statement must be an unsigned integer below 2^53')
    }
    this.writeUint(word * WORD_BYTES, value)
  }

  uint256(word: number, value: bigint): void {
    if (value < 0n || value > MAX_UINT256) throw new StatementInvalidError('a value in a statement must be a uint256')
    const { view } = this
    const at = word * WORD_BYTES
    // setBigUint64 takes its argument modulo 2^64.
    view.setBigUint64(at + 24, value)
    if (value <= MAX_UINT64) return
    view.setBigUint64(at + 16, value >> 64n)
    view.setBigUint64(at + 8, value >> 128n)
    view.setBigUint64(at, value >> 192n)
  }

  /** @param address `0x` and 40 hexadecimal digits */
  address(word: number, address: string): void {
    if (address.length !== 42 || !address.startsWith('0x')) {
      throw new StatementInvalidError('an address in a statement must be 0x followed by 40 hex digits')
    }
    this.writeHex(word * WORD_BYTES + 12, address, 20)
  }

  /** @param hex `0x` and an even number of hexadecimal digits, at most 64 KiB of data */
  bytes(word: number, hex: string): void {
    const byteCount = (hex.length - 2) / 2
    if (!hex.startsWith('0x') || !Number.isInteger(byteCount) || byteCount > MAX_DATA_BYTES) {
      throw new StatementInvalidError('data in a statement must be 0x followed by hex digits, at most 64 KiB')
    }
    const start = this.openTail(word, byteCount)
    this.writeHex(start, hex, byteCount)
    this.closeTail(start, byteCount)
  }

  /** Writes UTF-8. A lone surrogate becomes U+FFFD. */
  text(word: number, text: string): void {
    // A UTF-16 code unit takes at most three bytes in UTF-8.
    const start = this.openTail(word, text.length * 3)
    this.closeTail(start, this.buffer.write(text, start))
  }

  /** Returns a view, which the next `begin` invalidates. */
  encoded(): Uint8Array {
    return this.buffer.subarray(0, this.end)
  }

  private writeUint(at: number, value: number): void {
    this.view.setUint32(at + 24, Math.floor(value / 2 ** 32))
    this.view.setUint32(at + 28, value % 2 ** 32)
  }

  // Doesn't use Buffer's hex decoder, which accepts U+0130 as "0".
  private writeHex(at: number, hex: string, byteCount: number): void {
    if (byteCount === 0) return
    try {
      this.buffer.subarray(at, at + byteCount).setFromHex(hex.slice(2))
    } catch {
      throw new StatementInvalidError('a value in a statement is not valid hex')
    }
  }

  /** Reserves a length word and `byteCount` bytes, points the head to them, and returns the offset of the bytes. */
  private openTail(word: number, byteCount: number): number {
    this.reserve(WORD_BYTES + byteCount + WORD_BYTES)
    this.writeUint(word * WORD_BYTES, this.end)
    return this.end + WORD_BYTES
  }

  private closeTail(start: number, byteCount: number): void {
    const { buffer } = this
    buffer.fill(0, this.end, start)
    this.writeUint(this.end, byteCount)
    const end = start + Math.ceil(byteCount / WORD_BYTES) * WORD_BYTES
    for (let i = start + byteCount; i < end; i++) buffer[i] = 0
    this.end = end
  }

  private reserve(byteCount: number): void {
    if (this.end + byteCount <= this.buffer.length) return
    const larger = Buffer.alloc(Math.max(this.buffer.length * 2, this.end + byteCount))
    larger.set(this.buffer.subarray(0, this.end))
    this.buffer = larger
    this.view = new DataView(larger.buffer, larger.byteOffset, larger.length)
  }
}
