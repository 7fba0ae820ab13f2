import { ArgumentInvalidError } from './errors.ts'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const BYTES = 32

export const decodeKey = (argument: string, text: string): Uint8Array => {
  const fail = (): never => {
    throw new ArgumentInvalidError(argument, 'must be 32 bytes in base58')
  }
  if (text.length < BYTES || text.length > 44) return fail()
  let value = 0n
  for (const character of text) {
    const digit = ALPHABET.indexOf(character)
    if (digit < 0) return fail()
    value = value * 58n + BigInt(digit)
  }
  const hex = value === 0n ? '' : value.toString(16)
  const digits = hex.length % 2 === 0 ? hex : `0${hex}`
  // Each leading 1 is a zero byte; other encodings of zero bytes are invalid.
  const zeros = text.length - text.replace(/^1+/, '').length
  return zeros + digits.length / 2 === BYTES ? Uint8Array.from(Buffer.from(digits.padStart(64, '0'), 'hex')) : fail()
}
