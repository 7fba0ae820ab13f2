// Checksummed form of an EVM address (EIP-55). Not for hot paths.
import { keccak_256 } from '@noble/hashes/sha3.js'

/** @param address `0x` and 40 hex digits in any case */
export const checksumAddress = (address: string): string => {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak_256(new TextEncoder().encode(digits))
  let text = '0x'
  for (let i = 0; i < digits.length; i++) {
    const nibble = i % 2 === 0 ? hash[i >> 1]! >> 4 : hash[i >> 1]! & 15
    text += nibble >= 8 ? digits[i]!.toUpperCase() : digits[i]!
  }
  return text
}
