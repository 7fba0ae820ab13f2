// Wallets of people and businesses. Only the canonical address is compared (threats rows 6 and 11).

import { checksumAddress } from '../lib/checksum-address.ts'
import {
  type EvmAddress,
  parseEvmAddress,
  parseSolanaAddress,
  type SolanaAddress,
  type WalletAddress,
} from './address.ts'

/** Maximum sessions per wallet, organization and environment. A verification reads all of them. */
export const SESSIONS_PER_WALLET_MAX = 128

/** Maximum per session (spec, "Limits"). An address on two chains counts twice. */
export const WALLETS_PER_SESSION_MAX = 20

/**
 * Maximum number of connected and disconnected wallets, counted once per chain. Each change of a session names all of
 * them.
 */
export const WALLETS_OVER_TIME_MAX = 100

export interface SessionWallet {
  readonly id: string
  /** Chain on which the wallet was connected: an open set (decisions §5, "Wallet entry"). */
  readonly chain: string
  readonly address: WalletAddress
  /** Display text: EIP-55 spelling for EVM, `address` for Solana. */
  readonly addressText: string
  readonly connectedAtSeconds: number
  /** Sequence of the session after connecting the wallet. */
  readonly connectedSequence: number
}

export interface SessionWalletOverTime extends Pick<SessionWallet, 'chain' | 'address' | 'addressText'> {
  /** False for disconnected wallets, and for a wallet named only by the registration. */
  readonly isConnected: boolean
}

type ParsedWallet =
  | { readonly family: 'evm'; readonly address: EvmAddress }
  | { readonly family: 'solana'; readonly address: SolanaAddress }

/** An EVM wallet has an EIP-155 id; a Solana wallet is valid on any cluster. */
export type WalletOnChain =
  | { readonly family: 'evm'; readonly address: EvmAddress; readonly chainId: number }
  | { readonly family: 'solana'; readonly address: SolanaAddress }

export interface ProofRequest {
  /** At least 96 random bits, alphanumeric as EIP-4361 requires. */
  readonly nonce: string
  readonly organizationId: string
  readonly sessionId: string
  readonly portalHost: string
  readonly wallet: WalletOnChain
  /** Chain name of the session's wallet. */
  readonly chain: string
  readonly message: string
  readonly expiresAtSeconds: number
}

/** `sandbox` exists only in sessions of test keys. */
export type ProofKind = 'eip191' | 'erc1271' | 'siws' | 'sandbox'

export interface WalletConnection extends ByBrowser {
  readonly organizationId: string
  readonly sessionId: string
  readonly chain: string
  readonly address: WalletAddress
  readonly proof: { readonly kind: ProofKind; readonly message: string; readonly signature: string }
  /** Spent by the connection; null for sandbox proofs. */
  readonly nonce: string | null
  readonly actor: string
}

export interface WalletRemoval extends ByBrowser {
  readonly organizationId: string
  readonly sessionId: string
  readonly walletId: string
  readonly actor: string
}

/** A change made on the verification page. */
export interface ByBrowser {
  /** Hash of the browser's secret. The transaction checks that the browser may still open the session. */
  readonly cookieHash?: Uint8Array | undefined
}

/** Session opened by a link of the verification page. */
export interface LinkSession {
  readonly organizationId: string
  readonly sessionId: string
}

export interface ContinuationChallenge extends LinkSession {
  readonly nonce: string
  readonly linkHash: Uint8Array
  readonly wallet: WalletOnChain
  readonly message: string
  readonly expiresAtSeconds: number
}

/** Parses `0x` and 40 hex digits in any case, or base58 of 32 bytes: base58 has no digit 0. */
export const parseWalletAddress = (text: string): ParsedWallet | null => {
  const evm = parseEvmAddress(text)
  if (evm !== null) return { family: 'evm', address: evm }
  const solana = parseSolanaAddress(text)
  return solana === null ? null : { family: 'solana', address: solana }
}

export const isEvmAddress = (address: WalletAddress): address is EvmAddress => address.startsWith('0x')

/** @param chainId ignored for a Solana wallet */
export const walletOn = (address: WalletAddress, chainId: number): WalletOnChain =>
  isEvmAddress(address) ? { family: 'evm', address, chainId } : { family: 'solana', address }

/** Returns 0 for families without chain ids. */
export const storedChainId = (wallet: WalletOnChain): number => (wallet.family === 'evm' ? wallet.chainId : 0)

export const walletAddressText = (address: WalletAddress): string =>
  isEvmAddress(address) ? checksumAddress(address) : address
