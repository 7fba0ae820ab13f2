// Wallets of people and businesses. Only the canonical address is ever compared (threats rows 6 and 11); the other text
// is for display.

import { checksumAddress } from '../lib/checksum-address.ts'
import {
  type EvmAddress,
  parseEvmAddress,
  parseSolanaAddress,
  type SolanaAddress,
  type WalletAddress,
} from './address.ts'

/** Sessions of one wallet, per organization and environment. A verification reads all of them. */
export const SESSIONS_PER_WALLET_MAX = 128

/** Spec, "Limits": up to 20 per session, across different chains. The same address on two chains counts twice. */
export const WALLETS_PER_SESSION_MAX = 20

/** Connected and disconnected wallets of a session, once per chain. Each change of the session names all of them. */
export const WALLETS_OVER_TIME_MAX = 100

/** A wallet that its owner connected to a session with a proof. */
export interface SessionWallet {
  readonly id: string
  /** Name of the chain on which the wallet was connected: an open set (decisions §5, "Wallet entry"). */
  readonly chain: string
  readonly address: WalletAddress
  /** Text for display: EIP-55 spelling for EVM, the same as `address` for Solana. */
  readonly addressText: string
  readonly connectedAtSeconds: number
  /** The session's sequence after connecting this wallet. */
  readonly connectedSequence: number
}

/** A wallet that a session has or had. */
export interface SessionWalletOverTime extends Pick<SessionWallet, 'chain' | 'address' | 'addressText'> {
  /** False for disconnected wallets, and for a wallet that is named by the registration only. */
  readonly isConnected: boolean
}

type ParsedWallet =
  | { readonly family: 'evm'; readonly address: EvmAddress }
  | { readonly family: 'solana'; readonly address: SolanaAddress }

/** A wallet and its chain: an EVM wallet has an EIP-155 id; a Solana wallet is valid on any cluster. */
export type WalletOnChain =
  | { readonly family: 'evm'; readonly address: EvmAddress; readonly chainId: number }
  | { readonly family: 'solana'; readonly address: SolanaAddress }

/** A message for a person to sign, to prove ownership of a wallet. */
export interface ProofRequest {
  /** At least 96 random bits, alphanumeric as EIP-4361 requires. */
  readonly nonce: string
  readonly organizationId: string
  readonly sessionId: string
  readonly portalHost: string
  readonly wallet: WalletOnChain
  /** Name of the chain for the session's wallet. */
  readonly chain: string
  /** The complete text to sign. */
  readonly message: string
  readonly expiresAtSeconds: number
}

/** How a person proved ownership of a wallet; `sandbox` only in sessions of test keys. */
export type ProofKind = 'eip191' | 'erc1271' | 'siws' | 'sandbox'

/** A proven wallet to connect to a session. */
export interface WalletConnection extends ByBrowser {
  readonly organizationId: string
  readonly sessionId: string
  readonly chain: string
  readonly address: WalletAddress
  readonly proof: { readonly kind: ProofKind; readonly message: string; readonly signature: string }
  /** Used up by the connection. Null for the sandbox's proofs. */
  readonly nonce: string | null
  readonly actor: string
}

/** A wallet to remove from a session. */
export interface WalletRemoval extends ByBrowser {
  readonly organizationId: string
  readonly sessionId: string
  readonly walletId: string
  readonly actor: string
}

/** A change that a person makes on the verification page. */
export interface ByBrowser {
  /**
   * Hash of the secret of the person's browser. The change's transaction checks that the browser may still open the
   * session.
   */
  readonly cookieHash?: Uint8Array | undefined
}

/** The session that a link of the verification page opens. */
export interface LinkSession {
  readonly organizationId: string
  readonly sessionId: string
}

/** The challenge for a person whose link is bound to another browser. */
export interface ContinuationChallenge extends LinkSession {
  readonly nonce: string
  readonly linkHash: Uint8Array
  readonly wallet: WalletOnChain
  readonly message: string
  readonly expiresAtSeconds: number
}

/**
 * Parses a wallet address without a chain: `0x` and 40 hex digits in any case, or base58 of 32 bytes. The two are never
 * ambiguous, because base58 has no zero digit. Returns null for anything else.
 */
export const parseWalletAddress = (text: string): ParsedWallet | null => {
  const evm = parseEvmAddress(text)
  if (evm !== null) return { family: 'evm', address: evm }
  const solana = parseSolanaAddress(text)
  return solana === null ? null : { family: 'solana', address: solana }
}

export const isEvmAddress = (address: WalletAddress): address is EvmAddress => address.startsWith('0x')

/** @param chainId of an EVM wallet; ignored for a Solana wallet */
export const walletOn = (address: WalletAddress, chainId: number): WalletOnChain =>
  isEvmAddress(address) ? { family: 'evm', address, chainId } : { family: 'solana', address }

/** Returns the chain id for a table: 0 if a family has no chain ids. */
export const storedChainId = (wallet: WalletOnChain): number => (wallet.family === 'evm' ? wallet.chainId : 0)

export const walletAddressText = (address: WalletAddress): string =>
  isEvmAddress(address) ? checksumAddress(address) : address
