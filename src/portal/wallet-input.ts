// Decodes a wallet that a person typed or wallet software sent.

import { FieldInvalidError } from '../domain/errors.ts'
import { parseWalletAddress, type WalletOnChain } from '../domain/wallet.ts'
import { checksumAddress } from '../lib/checksum-address.ts'
import type { JsonObject } from '../server/strict-json.ts'
import { AddressChecksumError } from './errors.ts'
import { chainIdOf, textOf } from './json.ts'

const ADDRESS_MAX = 64
const hasBothCases = (text: string): boolean => /[a-f]/.test(text) && /[A-F]/.test(text)

/**
 * Returns the address and chain. A typed address in mixed case must match its EIP-55 checksum; an address in a single
 * case has no checksum.
 * @throws FieldMissingError, FieldInvalidError, AddressChecksumError
 */
export const decodeWalletOnChain = (body: JsonObject): WalletOnChain => {
  const text = textOf(body, 'address', ADDRESS_MAX).trim()
  const wallet = parseWalletAddress(text)
  if (wallet === null) throw new FieldInvalidError('address', 'must be an EVM or a Solana address')
  if (wallet.family === 'solana') return wallet
  if (hasBothCases(text.slice(2)) && text !== checksumAddress(text)) throw new AddressChecksumError()
  return { ...wallet, chainId: chainIdOf(body) }
}
