// Checks a wallet's signature over a message. EVM: EIP-191 or, for contract wallets, EIP-1271 and ERC-6492. Solana:
// Ed25519. Uses audited JavaScript, because it runs only a few times per session.
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import bs58 from 'bs58'
import { isHexBytes, type SolanaAddress, solanaAddressBytes } from '../../domain/address.ts'
import type { ProofKind, WalletOnChain } from '../../domain/wallet.ts'

export interface SignedProof {
  readonly wallet: WalletOnChain
  readonly message: string
  /** EVM: `0x` hex. Solana: base58 or `0x` hex of 64 bytes. */
  readonly signature: string
}

export type ContractProofVerifier = (
  proof: SignedProof & { readonly wallet: Extract<WalletOnChain, { family: 'evm' }> },
) => Promise<boolean>

/** Returns the kind of proof; null if it is invalid. Rejects if a contract wallet can't be queried. */
export type VerifyProof = (proof: SignedProof) => Promise<Exclude<ProofKind, 'sandbox'> | null>

/** Maximum length of a signature: enough for contract wallets, which choose their own signature formats. */
const SIGNATURE_HEX_MAX = 16_386

const encoder = new TextEncoder()

/** Returns the digest that wallets sign for a text (EIP-191, version 0x45). */
const personalMessageDigest = (message: string): Uint8Array => {
  const text = encoder.encode(message)
  return keccak_256(Buffer.concat([encoder.encode(`\x19Ethereum Signed Message:\n${text.length}`), text]))
}

const hexBytes = (text: string): Uint8Array | null =>
  text.length <= SIGNATURE_HEX_MAX && isHexBytes(text) ? Uint8Array.fromHex(text.slice(2)) : null

/** Recovers the signer. The value v is 27 or 28; some hardware wallets use 0 or 1. */
const recoverSigner = (message: string, signature: Uint8Array): string | null => {
  if (signature.length !== 65) return null
  const v = signature[64]!
  const recovery = v >= 27 ? v - 27 : v
  if (recovery > 1) return null
  try {
    // Noble expects the recovery byte first.
    const recoverable = Uint8Array.of(recovery, ...signature.subarray(0, 64))
    const compressed = secp256k1.recoverPublicKey(recoverable, personalMessageDigest(message), { prehash: false })
    const publicKey = secp256k1.Point.fromBytes(compressed).toBytes(false)
    return `0x${keccak_256(publicKey.subarray(1)).subarray(12).toHex()}`
  } catch {
    // The recovered point isn't on the curve, so nobody can have created this signature.
    return null
  }
}

const base58Bytes = (text: string): Uint8Array | null => (text.length <= 90 ? (bs58.decodeUnsafe(text) ?? null) : null)

const isSolanaSignature = async (address: SolanaAddress, message: string, text: string): Promise<boolean> => {
  const signature = text.startsWith('0x') ? hexBytes(text) : base58Bytes(text)
  if (signature?.length !== 64) return false
  const { ed25519 } = await import('@noble/curves/ed25519.js')
  try {
    // Strict verification (RFC 8032, FIPS 186-5) rejects small-order keys, for which anyone can sign.
    return ed25519.verify(signature, encoder.encode(message), solanaAddressBytes(address), { zip215: false })
  } catch {
    // The address isn't a point on the curve, such as a program's address, so nobody can sign for it.
    return false
  }
}

/** @param contractVerifier if undefined, contract wallets can't prove ownership */
export const createVerifyProof =
  (contractVerifier?: ContractProofVerifier): VerifyProof =>
  async ({ wallet, message, signature }) => {
    if (wallet.family === 'solana') {
      return (await isSolanaSignature(wallet.address, message, signature)) ? 'siws' : null
    }
    const bytes = hexBytes(signature)
    if (bytes === null) return null
    if (recoverSigner(message, bytes) === wallet.address) return 'eip191'
    return contractVerifier !== undefined && (await contractVerifier({ wallet, message, signature })) ? 'erc1271' : null
  }
