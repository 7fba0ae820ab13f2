// Decodes arguments of Solana instructions, as strictly as borsh-rs. Source: https://borsh.io, as used by Anchor.

import bs58 from 'bs58'
import { isInt64 } from '../../lib/int64.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import { AddressValue, Uint256 } from '../values.ts'
import { DecodingBudget, MALFORMED, OUT_OF_RANGE, TOO_LONG } from './decoding.ts'
import type { TupleType } from './tuple-types.ts'

export class BorshReader {
  readonly budget = new DecodingBudget()
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0

  open(bytes: Uint8Array, at: number): void {
    this.#bytes = bytes
    this.#at = at
    this.budget.reset()
  }

  take(length: number): Uint8Array {
    const end = this.#at + length
    if (end > this.#bytes.length) throw MALFORMED
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  byte(): number {
    return this.take(1)[0] ?? 0
  }

  unsigned(length: number): bigint {
    const bytes = this.take(length)
    let value = 0n
    for (let i = length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i] ?? 0)
    return value
  }

  length(): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.take(4)
    return a + b * 0x100 + c * 0x1_0000 + d * 0x100_0000
  }

  flag(): boolean {
    const byte = this.byte()
    if (byte > 1) throw MALFORMED
    return byte === 1
  }
}

export interface BorshCodec {
  /** Type in the policy language; empty if it has none, and the value is then skipped. */
  readonly type: string
  /** Minimum number of bytes of one value. */
  readonly minBytes: number
  read(reader: BorshReader): unknown
}

const codec = (type: string, minBytes: number, read: BorshCodec['read'], cost = 1): BorshCodec => ({
  type,
  minBytes,
  read: (reader) => {
    for (let i = 0; i < cost; i++) reader.budget.spend()
    return read(reader)
  },
})

const unsigned = (bytes: number): BorshCodec => codec('uint256', bytes, (reader) => Uint256.of(reader.unsigned(bytes)))

const signed = (bytes: number): BorshCodec =>
  codec('int', bytes, (reader) => {
    const value = BigInt.asIntN(8 * bytes, reader.unsigned(bytes))
    return isInt64(value) ? value : OUT_OF_RANGE
  })

const skipped = (bytes: number): BorshCodec => codec('', bytes, (reader) => reader.take(bytes))

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const readText = (reader: BorshReader): unknown => {
  const bytes = reader.take(reader.length())
  if (bytes.length > POLICY_LIMITS.decodedChars) return TOO_LONG
  try {
    return UTF8.decode(bytes)
  } catch {
    // borsh-rs also rejects invalid UTF-8.
    throw MALFORMED
  }
}

const hexOrTooLong = (bytes: Uint8Array): unknown =>
  2 + 2 * bytes.length > POLICY_LIMITS.decodedChars ? TOO_LONG : `0x${bytes.toHex()}`

const readBytes = (reader: BorshReader): unknown => hexOrTooLong(reader.take(reader.length()))

export const borshBytes: BorshCodec = codec('string', 4, readBytes)

export const borshFixedBytes = (length: number): BorshCodec =>
  codec('string', length, (reader) => hexOrTooLong(reader.take(length)))

/** Base58 of 32 bytes takes as long as decoding ten other values. */
const ADDRESS_COST = 10

/** Basic types of both Anchor IDL formats. */
export const BORSH_BASIC: Readonly<Record<string, BorshCodec>> = {
  bool: codec('bool', 1, (reader) => reader.flag()),
  u8: unsigned(1),
  u16: unsigned(2),
  u32: unsigned(4),
  u64: unsigned(8),
  u128: unsigned(16),
  u256: unsigned(32),
  i8: signed(1),
  i16: signed(2),
  i32: signed(4),
  i64: signed(8),
  i128: signed(16),
  i256: signed(32),
  f32: skipped(4),
  f64: skipped(8),
  string: codec('string', 4, readText),
  bytes: borshBytes,
  pubkey: codec('address', 32, (reader) => new AddressValue(bs58.encode(reader.take(32))), ADDRESS_COST),
}

const listType = ({ type }: BorshCodec): string => (type === '' ? '' : `list<${type}>`)

const readMany = (element: BorshCodec, count: number, reader: BorshReader): unknown => {
  if (element.minBytes === 0 && count > POLICY_LIMITS.decodedElements) throw MALFORMED
  const members: unknown[] = []
  // Unused elements must also be read to reach the next argument.
  for (let i = 0; i < count; i++) {
    const member = element.read(reader)
    if (i < POLICY_LIMITS.decodedElements) members.push(member)
  }
  return count > POLICY_LIMITS.decodedElements ? TOO_LONG : members
}

export const borshVec = (element: BorshCodec): BorshCodec =>
  codec(listType(element), 4, (reader) => readMany(element, reader.length(), reader))

export const borshArray = (element: BorshCodec, count: number): BorshCodec =>
  codec(listType(element), count * element.minBytes, (reader) => readMany(element, count, reader))

/** Returns a list of at most one element, because the policy language has no null. */
export const borshOption = (element: BorshCodec): BorshCodec =>
  codec(listType(element), 1, (reader) => (reader.flag() ? [element.read(reader)] : []))

export const borshStruct = (tuple: TupleType, members: readonly BorshCodec[]): BorshCodec =>
  codec(
    tuple.name,
    members.reduce((sum, { minBytes }) => sum + minBytes, 0),
    (reader) => new tuple.constructor(members.map((member) => member.read(reader))),
  )

/** Returns the variant's name; its fields are skipped. */
export const borshEnum = (
  variants: readonly { readonly name: string; readonly members: readonly BorshCodec[] }[],
): BorshCodec =>
  codec('string', 1, (reader) => {
    const variant = variants[reader.byte()]
    if (variant === undefined) throw MALFORMED
    for (const member of variant.members) member.read(reader)
    return variant.name
  })
