// PDF filters that encode bytes as text, which viewers decode before inflating. Source: ISO 32000-2 §7.4.2
// (ASCIIHexDecode), §7.4.3 (ASCII85Decode).

const isBlank = (byte: number): boolean => byte <= 0x20

/** Returns the value of a hex digit; -1 for any other byte. */
export const hexDigit = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** `textOf` returns the encoded text at the start of the bytes; `decode` accepts nothing else. */
export interface TextFilter {
  readonly textOf: (bytes: Buffer) => Buffer
  readonly decode: (text: Buffer) => Buffer
}

const textOf = (bytes: Buffer, isOfFilter: (byte: number) => boolean): Buffer => {
  let end = 0
  while (end < bytes.length && (isBlank(bytes[end]!) || isOfFilter(bytes[end]!))) end += 1
  return bytes.subarray(0, end)
}

/** A single last digit is padded with 0. */
const decodeAsciiHex = (bytes: Buffer): Buffer => {
  const decoded = Buffer.allocUnsafe(Math.ceil(bytes.length / 2))
  let length = 0
  let high = -1
  for (const byte of bytes) {
    if (isBlank(byte)) continue
    const digit = hexDigit(byte)
    if (high === -1) high = digit
    else {
      decoded[length++] = high * 16 + digit
      high = -1
    }
  }
  if (high !== -1) decoded[length++] = high * 16
  return decoded.subarray(0, length)
}

const Z = 0x7a

/** Stops at a `z` within a group. */
const decodeAscii85 = (bytes: Buffer): Buffer => {
  let zeros = 0
  for (const byte of bytes) if (byte === Z) zeros += 1
  const decoded = Buffer.alloc(zeros * 4 + Math.ceil((bytes.length - zeros) / 5) * 4)
  let length = 0
  let group = 0
  let count = 0
  for (const byte of bytes) {
    if (isBlank(byte)) continue
    if (byte === Z && count === 0) {
      length += 4
      continue
    }
    if (byte === Z) break
    group = group * 85 + (byte - 0x21)
    count += 1
    if (count < 5) continue
    length = decoded.writeUInt32BE(group % 2 ** 32, length)
    group = 0
    count = 0
  }
  if (count < 2) return decoded.subarray(0, length)
  // A last group of n characters encodes n - 1 bytes, padded with the highest digit.
  for (let filled = count; filled < 5; filled++) group = group * 85 + 84
  decoded.writeUInt32BE(group % 2 ** 32, length)
  return decoded.subarray(0, length + count - 1)
}

export const ASCII_HEX: TextFilter = {
  textOf: (bytes) => textOf(bytes, (byte) => hexDigit(byte) !== -1),
  decode: decodeAsciiHex,
}

export const ASCII_85: TextFilter = {
  textOf: (bytes) => textOf(bytes, (byte) => byte <= 0x75 || byte === Z),
  decode: decodeAscii85,
}
