// The subset of DER (ITU-T X.690, sections 8 and 10) for encrypted PKCS#8 keys. The reader accepts only the one valid
// encoding of each value.
import { KeystoreInvalidError } from './errors.ts'

export const DER_INTEGER = 0x02
export const DER_OCTET_STRING = 0x04
export const DER_NULL = 0x05
export const DER_OBJECT_IDENTIFIER = 0x06
export const DER_SEQUENCE = 0x30

export const encodeDer = (tag: number, ...parts: readonly Uint8Array[]): Uint8Array => {
  const contents = Buffer.concat(parts)
  const { length } = contents
  const header =
    length < 128 ? [tag, length] : length < 256 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 255]
  return Buffer.concat([Uint8Array.from(header), contents])
}

export const encodeDerInteger = (value: number): Uint8Array => {
  const bytes: number[] = []
  for (let rest = value; rest > 0; rest >>= 8) bytes.unshift(rest & 255)
  if (bytes.length === 0 || bytes[0]! > 127) bytes.unshift(0)
  return encodeDer(DER_INTEGER, Uint8Array.from(bytes))
}

export interface DerReader {
  /** Contents of the next element. @throws KeystoreInvalidError if it is missing, incomplete or has a different tag */
  read(tag: number): Uint8Array
  /** Reads the next element as a non-negative integer below 2^31. */
  readInteger(): number
  enter(): DerReader
  /** @throws KeystoreInvalidError if data remains */
  finish(): void
}

const malformed = () => new KeystoreInvalidError('invalid DER encoding')

export const createDerReader = (bytes: Uint8Array): DerReader => {
  let at = 0

  const readLength = (): number => {
    const first = bytes[at++] ?? 255
    if (first < 128) return first
    const count = first & 127
    if (count < 1 || count > 2 || at + count > bytes.length) throw malformed()
    let length = 0
    for (let i = 0; i < count; i++) length = length * 256 + bytes[at++]!
    if (length < (count === 1 ? 128 : 256)) throw malformed()
    return length
  }

  const read = (tag: number): Uint8Array => {
    if (bytes[at] !== tag) throw malformed()
    at++
    const length = readLength()
    if (at + length > bytes.length) throw malformed()
    at += length
    return bytes.subarray(at - length, at)
  }

  return {
    read,
    readInteger: () => {
      const contents = read(DER_INTEGER)
      const padded = contents[0] === 0 && (contents[1] ?? 255) < 128
      if (contents.length < 1 || contents.length > 4 || contents[0]! > 127 || padded) throw malformed()
      return contents.reduce((value, byte) => value * 256 + byte, 0)
    },
    enter: () => createDerReader(read(DER_SEQUENCE)),
    finish: () => {
      if (at !== bytes.length) throw malformed()
    },
  }
}
