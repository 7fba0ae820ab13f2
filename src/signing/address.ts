// EVM addresses from public keys, and their checksummed spelling. Off the hot path: computed once per key.
// Source: Ethereum yellow paper, appendix F; EIP-55.
import { keccak_256 } from '@noble/hashes/sha3.js'

/**
 * The EIP-55 spelling of an address.
 * @param address `0x` and 40 hex digits in any case.
 */
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

/**
 * The checksummed address of a public key: the last 20 bytes of the Keccak-256 of its two coordinates.
 * @param publicKey 65 bytes, 0x04 first.
 */
export const evmAddressOf = (publicKey: Uint8Array): string => {
  if (publicKey.length !== 65 || publicKey[0] !== 4) throw new TypeError('not an uncompressed public key of 65 bytes')
  return checksumAddress(`0x${keccak_256(publicKey.subarray(1)).subarray(12).toHex()}`)
}
