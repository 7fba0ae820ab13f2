// Derives EVM addresses from public keys, once per key and not on the hot path. Source: Ethereum yellow paper, appendix
// F.
import { keccak_256 } from '@noble/hashes/sha3.js'
import { checksumAddress } from '../lib/checksum-address.ts'

/**
 * The checksummed address of a public key: the last 20 bytes of the Keccak-256 of its two coordinates.
 * @param publicKey 65 bytes, 0x04 first.
 */
export const evmAddressOf = (publicKey: Uint8Array): string => {
  if (publicKey.length !== 65 || publicKey[0] !== 4) throw new TypeError('not an uncompressed public key of 65 bytes')
  return checksumAddress(`0x${keccak_256(publicKey.subarray(1)).subarray(12).toHex()}`)
}
