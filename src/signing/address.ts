// Derives EVM addresses from public keys (Ethereum Yellow Paper, appendix F). Not for hot paths.
import { keccak_256 } from '@noble/hashes/sha3.js'
import { checksumAddress } from '../lib/checksum-address.ts'

/** Returns the checksummed address. @param publicKey 65 bytes, starting with 0x04 */
export const evmAddressOf = (publicKey: Uint8Array): string => {
  if (publicKey.length !== 65 || publicKey[0] !== 4) throw new TypeError('not an uncompressed public key of 65 bytes')
  return checksumAddress(`0x${keccak_256(publicKey.subarray(1)).subarray(12).toHex()}`)
}
