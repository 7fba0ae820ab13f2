// The two filters of PDF that write bytes as text. A viewer applies them before it inflates, so a check has to as well.
// Source: ISO 32000-2 §7.4.2 (ASCIIHexDecode), §7.4.3 (ASCII85Decode).

const GREATER = 0x3e
const isBlank = (byte: number): boolean => byte <= 0x20

const hexDigit = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** Up to the first byte that is none of the filter's; a last single digit is followed by 0. */
export const decodeAsciiHex = (bytes: Buffer): Buffer => {
  const decoded = Buffer.allocUnsafe(Math.ceil(bytes.length / 2))
  let length = 0
  let high = -1
  for (const byte of bytes) {
    if (isBlank(byte)) continue
    const digit = hexDigit(byte)
    if (byte === GREATER || digit === -1) break
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

/** Up to `~>`, or the first byte that is none of the filter's. */
export const decodeAscii85 = (bytes: Buffer): Buffer => {
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
    if (byte < 0x21 || byte > 0x75) break
    group = group * 85 + (byte - 0x21)
    count += 1
    if (count < 5) continue
    length = decoded.writeUInt32BE(group % 2 ** 32, length)
    group = 0
    count = 0
  }
  if (count < 2) return decoded.subarray(0, length)
  // A last group of n characters stands for n - 1 bytes, as if it were filled up with the highest digit.
  for (let filled = count; filled < 5; filled++) group = group * 85 + 84
  decoded.writeUInt32BE(group % 2 ** 32, length)
  return decoded.subarray(0, length + count - 1)
}
