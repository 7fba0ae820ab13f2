// Wallets of people and businesses. Only the canonical address is ever compared (threats rows 6 and 11); the text beside
// it is for people to read.
import { type EvmAddress, parseEvmAddress, parseSolanaAddress, type WalletAddress } from './address.ts'
import type { ChainFamily } from './chain.ts'
import { checksumAddress } from './checksum-address.ts'

/** Spec, "Limits": up to 20 a session, across different chains. The same address on two chains counts twice. */
export const WALLETS_PER_SESSION_MAX = 20

/** A wallet that its owner has connected to a session, with proof. */
export interface SessionWallet {
  readonly id: string
  /** The name of the chain it was connected on: an open set (decisions §5, "Wallet entry"). */
  readonly chain: string
  readonly address: WalletAddress
  /** What is shown: EIP-55 spelling for EVM, the same as `address` for Solana. */
  readonly addressText: string
  readonly connectedAtSeconds: number
  /** The session's sequence with this wallet connected. */
  readonly connectedSequence: number
}

export interface ParsedWallet {
  readonly family: ChainFamily
  readonly address: WalletAddress
}

/**
 * A wallet address whose chain is not named: `0x` and 40 hex digits in any case, or base58 of 32 bytes. The two can't be
 * confused, since base58 has no zero digit. Null for anything else.
 */
export const parseWalletAddress = (text: string): ParsedWallet | null => {
  const evm = parseEvmAddress(text)
  if (evm !== null) return { family: 'evm', address: evm }
  const solana = parseSolanaAddress(text)
  return solana === null ? null : { family: 'solana', address: solana }
}

export const isEvmAddress = (address: WalletAddress): address is EvmAddress => address.startsWith('0x')

export const walletAddressText = (address: WalletAddress): string =>
  isEvmAddress(address) ? checksumAddress(address) : address
