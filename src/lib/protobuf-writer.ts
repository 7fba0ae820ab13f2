// Protobuf wire format for OTLP spans. Source: protobuf.dev/programming-guides/encoding.

export interface ProtobufWriter {
  varint(field: number, value: number): void
  /** 64 bits, little-endian. */
  fixed64(field: number, value: bigint): void
  bytes(field: number, value: Uint8Array): void
  text(field: number, value: string): void
  message(field: number, write: () => void): void
  finish(): Uint8Array<ArrayBuffer>
}

const VARINT = 0
const FIXED64 = 1
const LENGTH = 2
/** Maximum bytes of a length below 2^32. */
const VARINT_BYTES_MAX = 5

export const createProtobufWriter = (): ProtobufWriter => {
  let buffer = Buffer.allocUnsafe(16_384)
  let at = 0

  const reserve = (bytes: number): void => {
    if (at + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * buffer.length, at + bytes))
    buffer.copy(larger, 0, 0, at)
    buffer = larger
  }
  const number = (value: number): void => {
    reserve(VARINT_BYTES_MAX)
    let left = value
    for (; left > 127; left >>>= 7) buffer[at++] = (left & 127) | 128
    buffer[at++] = left
  }
  const tag = (field: number, kind: number): void => number((field << 3) | kind)
  /** Writes a part, then moves it to insert its length. */
  const withLength = (write: () => void): void => {
    const start = at
    write()
    const end = at
    const length = end - start
    number(length)
    const head = at - end
    buffer.copyWithin(start + head, start, end)
    at = start
    number(length)
    at = end + head
  }

  const writer: ProtobufWriter = {
    varint: (field, value) => {
      tag(field, VARINT)
      number(value)
    },
    fixed64: (field, value) => {
      tag(field, FIXED64)
      reserve(8)
      at = buffer.writeBigUInt64LE(value, at)
    },
    bytes: (field, value) => {
      tag(field, LENGTH)
      number(value.length)
      reserve(value.length)
      buffer.set(value, at)
      at += value.length
    },
    text: (field, value) => {
      writer.bytes(field, Buffer.from(value))
    },
    message: (field, write) => {
      tag(field, LENGTH)
      withLength(write)
    },
    finish: () => new Uint8Array(buffer.subarray(0, at)),
  }
  return writer
}
