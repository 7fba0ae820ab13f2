// Wallets of people and businesses. Only the canonical address is ever compared (threats rows 6 and 11); the text beside
// it is for people to read.

import { checksumAddress } from '../lib/checksum-address.ts'
import {
  type EvmAddress,
  parseEvmAddress,
  parseSolanaAddress,
  type SolanaAddress,
  type WalletAddress,
} from './address.ts'

/** Spec, "Limits": up to 20 a session, across different chains. The same address on two chains counts twice. */
export const WALLETS_PER_SESSION_MAX = 20

/** A wallet that its owner has connected to a session, with proof. */
export interface SessionWallet {
  readonly id: string
  /** Name of the chain on which the wallet was connected: an open set (decisions §5, "Wallet entry"). */
  readonly chain: string
  readonly address: WalletAddress
  /** What is shown: EIP-55 spelling for EVM, the same as `address` for Solana. */
  readonly addressText: string
  readonly connectedAtSeconds: number
  /** The session's sequence with this wallet connected. */
  readonly connectedSequence: number
}

type ParsedWallet =
  | { readonly family: 'evm'; readonly address: EvmAddress }
  | { readonly family: 'solana'; readonly address: SolanaAddress }

/** A wallet where it is used: an EVM one on a chain, by its EIP-155 id; a Solana one on any cluster. */
export type WalletOnChain =
  | { readonly family: 'evm'; readonly address: EvmAddress; readonly chainId: number }
  | { readonly family: 'solana'; readonly address: SolanaAddress }

/** A message that a person was asked to sign, to prove that a wallet is theirs. */
export interface ProofRequest {
  /** At least 96 random bits, alphanumeric as EIP-4361 asks. */
  readonly nonce: string
  readonly organizationId: string
  readonly sessionId: string
  readonly portalHost: string
  readonly wallet: WalletOnChain
  /** The chain's name, which the session's wallet will have. */
  readonly chain: string
  /** The complete text to sign. */
  readonly message: string
  readonly expiresAtSeconds: number
}

/** How a person proved that a wallet is theirs; `sandbox` in sessions of test keys only. */
export type ProofKind = 'eip191' | 'erc1271' | 'siws' | 'sandbox'

/** A proven wallet, to be connected to a session. */
export interface WalletConnection extends ByBrowser {
  readonly organizationId: string
  readonly sessionId: string
  readonly chain: string
  readonly address: WalletAddress
  readonly proof: { readonly kind: ProofKind; readonly message: string; readonly signature: string }
  /** Spent with the connection; null for the sandbox's proofs. */
  readonly nonce: string | null
  readonly actor: string
}

/** A wallet to be taken out of a session. */
export interface WalletRemoval extends ByBrowser {
  readonly organizationId: string
  readonly sessionId: string
  readonly walletId: string
  readonly actor: string
}

/** Of a change that a person makes on the verification page. */
export interface ByBrowser {
  /** Hash of the secret of the person's browser, which in the change's transaction must still be allowed to open the session. */
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

/** @param chainId of an EVM wallet; a Solana wallet has none, whatever is given */
export const walletOn = (address: WalletAddress, chainId: number): WalletOnChain =>
  isEvmAddress(address) ? { family: 'evm', address, chainId } : { family: 'solana', address }

/** As a table keeps it: 0 where a family has no chain ids. */
export const storedChainId = (wallet: WalletOnChain): number => (wallet.family === 'evm' ? wallet.chainId : 0)

export const walletAddressText = (address: WalletAddress): string =>
  isEvmAddress(address) ? checksumAddress(address) : address
