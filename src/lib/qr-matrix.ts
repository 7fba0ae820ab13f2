// Computes QR codes of links in microseconds (ISO/IEC 18004). With fixed version, error correction and mask, a link's
// code is the XOR of its token bits' codes.
import { create } from 'qrcode/lib/core/qrcode.js'

/** Level M tolerates damage to 15% of the code, which is common on screens and paper. */
const ERROR_CORRECTION = 'M'
/** Tokens are ASCII. */
const BITS_PER_CHARACTER = 7

export interface QrModules {
  readonly side: number
  /** Bit i is module i, row by row; 1 is dark. Valid until the next call of the same encoder. */
  readonly bits: Uint32Array
}

export const isDark = ({ side, bits }: QrModules, row: number, column: number): boolean => {
  const index = row * side + column
  return ((bits[index >> 5]! >>> (index & 31)) & 1) === 1
}

const pack = (modules: Uint8Array): Uint32Array => {
  const bits = new Uint32Array(Math.ceil(modules.length / 32))
  for (let i = 0; i < modules.length; i++) if (modules[i] !== 0) bits[i >> 5]! |= 1 << (i & 31)
  return bits
}

const xorInto = (target: Uint32Array, source: Uint32Array): void => {
  for (let i = 0; i < target.length; i++) target[i]! ^= source[i]!
}

/**
 * Creates an encoder for `prefix` and tokens of `tokenLength` characters. Takes a few hundred milliseconds. @throws
 * Error if the text is too long
 */
export const createQrEncoder = (prefix: string, tokenLength: number) => {
  const text = new TextEncoder().encode(prefix + '\0'.repeat(tokenLength))
  const tokenStart = text.length - tokenLength
  const first = create([{ data: text, mode: 'byte' }], { errorCorrectionLevel: ERROR_CORRECTION })
  // Choose the best mask for a typical token and keep it, because readers accept any mask.
  const sample = new TextEncoder().encode(prefix + 'CountersignSampleTokenAbCdEfGh0123456789'.slice(0, tokenLength))
  const { maskPattern } = create([{ data: sample, mode: 'byte' }], { errorCorrectionLevel: ERROR_CORRECTION })
  const modulesOf = (data: Uint8Array): Uint32Array =>
    pack(
      create([{ data, mode: 'byte' }], {
        errorCorrectionLevel: ERROR_CORRECTION,
        version: first.version,
        maskPattern,
      }).modules.data,
    )
  const base = modulesOf(text)
  const contributions: Uint32Array[] = []
  for (let character = 0; character < tokenLength; character++) {
    for (let bit = 0; bit < BITS_PER_CHARACTER; bit++) {
      const single = text.slice()
      single[tokenStart + character] = 1 << bit
      const contribution = modulesOf(single)
      xorInto(contribution, base)
      contributions.push(contribution)
    }
  }
  /** Modules per side, equal for all tokens. */
  const side = first.modules.size
  const bits = new Uint32Array(base.length)
  return {
    side,
    /** @param token ASCII of the fixed length */
    encode: (token: string): QrModules => {
      if (token.length !== tokenLength) throw new RangeError('the token has a different length than the prepared codes')
      bits.set(base)
      for (let character = 0; character < tokenLength; character++) {
        const code = token.charCodeAt(character)
        if (code > 0x7f) throw new RangeError('the token must be ASCII')
        for (let bit = 0; bit < BITS_PER_CHARACTER; bit++) {
          if ((code >> bit) & 1) xorInto(bits, contributions[character * BITS_PER_CHARACTER + bit]!)
        }
      }
      return { side, bits }
    },
  }
}
