// Parses addresses into one canonical text per byte string, so that equal texts mean equal bytes everywhere else
// (decisions §2; threats row 11).
import bs58 from 'bs58'
import { isBase58Of32Bytes } from '../lib/base58.ts'
import type { ChainFamily } from './chain.ts'

declare const brand: unique symbol

/** `0x` and 40 lowercase hex digits. */
export type EvmAddress = string & { readonly [brand]: 'EvmAddress' }
/** Base58 of 32 bytes. Base58 has one spelling per byte string, so the text is canonical. */
export type SolanaAddress = string & { readonly [brand]: 'SolanaAddress' }
export type WalletAddress = EvmAddress | SolanaAddress

export const EVM_ZERO_ADDRESS = '0x0000000000000000000000000000000000000000' as EvmAddress
/** Base58 of 32 zero bytes. */
export const SOLANA_ZERO_ADDRESS = '11111111111111111111111111111111' as SolanaAddress

/** Address to sign for the target if a request names no contract or program. */
export const zeroAddressOf = (family: ChainFamily): WalletAddress =>
  family === 'evm' ? EVM_ZERO_ADDRESS : SOLANA_ZERO_ADDRESS

/** Uses no regular expression, because `/i` with `/u` also matches U+212A. */
export const isHexDigit = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70)

/** 1 for hex digits, by char code. A lookup takes a third of the time of the comparisons. */
const HEX_DIGITS = Uint8Array.from({ length: 128 }, (_, code) => (isHexDigit(code) ? 1 : 0))
const HEX_LOOP_MAX = 66
const decoded = new Uint8Array(4_096)

/** Native decoding rejects all but hex digits and is many times faster. Buffer's decoding reads U+0130 as "0". */
const isLongHex = (text: string): boolean => {
  const step = decoded.length * 2
  for (let start = 2; start < text.length; start += step) {
    try {
      decoded.setFromHex(text.slice(start, start + step))
    } catch {
      return false
    }
  }
  return true
}

/** Accepts `0x` and an even number of hex digits in any case; `0x` alone is empty bytes. */
export const isHexBytes = (text: string): boolean => {
  if (text.length < 2 || text.length % 2 !== 0) return false
  if (text.charCodeAt(0) !== 48 || text.charCodeAt(1) !== 120) return false
  if (text.length > HEX_LOOP_MAX) return isLongHex(text)
  for (let i = 2; i < text.length; i++) if (HEX_DIGITS[text.charCodeAt(i)] !== 1) return false
  return true
}

/** Accepts `0x` and 40 hex digits in any case, without checking the EIP-55 checksum (decisions §2). */
export const parseEvmAddress = (text: string): EvmAddress | null =>
  text.length === 42 && isHexBytes(text) ? (text.toLowerCase() as EvmAddress) : null

/** Accepts base58 of exactly 32 bytes. */
export const parseSolanaAddress = (text: string): SolanaAddress | null =>
  isBase58Of32Bytes(text) ? (text as SolanaAddress) : null

export const solanaAddressBytes = (address: SolanaAddress): Uint8Array => bs58.decode(address)

export const parseAddress = (family: ChainFamily, text: string): WalletAddress | null =>
  family === 'evm' ? parseEvmAddress(text) : parseSolanaAddress(text)

/** Base58 has no digit 0, so the first character distinguishes the families. */
export const familyOf = (address: WalletAddress): ChainFamily => (address.startsWith('0') ? 'evm' : 'solana')

const HEX_OF_32_BYTES_LENGTH = 66
const TWELVE_ZERO_BYTES = `0x${'00'.repeat(12)}`

/**
 * Parses the address of a represented user. On EVM chains, it may also be 32 bytes of hex, as contracts store it: an
 * EVM address after twelve zero bytes, or else a Solana public key, which is converted to base58.
 */
export const parseRepresented = (family: ChainFamily, text: string): WalletAddress | null => {
  if (family !== 'evm' || text.length !== HEX_OF_32_BYTES_LENGTH || !isHexBytes(text)) return parseAddress(family, text)
  if (text.startsWith(TWELVE_ZERO_BYTES)) return parseEvmAddress(`0x${text.slice(TWELVE_ZERO_BYTES.length)}`)
  return bs58.encode(Uint8Array.fromHex(text.slice(2))) as SolanaAddress
}
