// Whether a signature over a message is a wallet's own. EVM: EIP-191 over the text, by recovery; contract wallets
// (EIP-1271 and 6492) are asked by a verifier that the deployment may add. Solana: Ed25519 over the text's bytes. Slow on
// purpose: audited JavaScript, a few times a session.
import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import bs58 from 'bs58'
import {
  type EvmAddress,
  isHexBytes,
  type SolanaAddress,
  solanaAddressBytes,
  type WalletAddress,
} from '../domain/address.ts'
import { isEvmAddress } from '../domain/wallet.ts'
import type { ProofKind } from './types.ts'

export interface SignedProof {
  readonly address: WalletAddress
  /** EIP-155; 0 on Solana. */
  readonly chainId: number
  readonly message: string
  /** EVM: `0x` hex. Solana: base58 or `0x` hex of 64 bytes. */
  readonly signature: string
}

/** Asks a chain whether a contract wallet takes the signature. False: it does not. Rejects when it can't be asked. */
export type ContractProofVerifier = (proof: SignedProof & { readonly address: EvmAddress }) => Promise<boolean>

/** How the proof holds, or null when it does not. Rejects when a contract wallet can't be asked. */
export type VerifyProof = (proof: SignedProof) => Promise<Exclude<ProofKind, 'sandbox'> | null>

/** Contract wallets sign with whatever they like; this much is plenty. */
const SIGNATURE_HEX_MAX = 16_386

const encoder = new TextEncoder()

/** EIP-191, version 0x45: the digest that wallets sign for a text. */
export const personalMessageDigest = (message: string): Uint8Array => {
  const text = encoder.encode(message)
  return keccak_256(Buffer.concat([encoder.encode(`\x19Ethereum Signed Message:\n${text.length}`), text]))
}

const hexBytes = (text: string): Uint8Array | null =>
  text.length <= SIGNATURE_HEX_MAX && isHexBytes(text) ? Uint8Array.fromHex(text.slice(2)) : null

/** The address that signed, or null. v is 27 or 28, or 0 or 1 as some hardware wallets have it. */
const recoverSigner = (message: string, signature: Uint8Array): string | null => {
  if (signature.length !== 65) return null
  const v = signature[64]!
  const recovery = v >= 27 ? v - 27 : v
  if (recovery > 1) return null
  try {
    // Noble's order: the recovery byte first.
    const recoverable = Uint8Array.of(recovery, ...signature.subarray(0, 64))
    const compressed = secp256k1.recoverPublicKey(recoverable, personalMessageDigest(message), { prehash: false })
    const publicKey = secp256k1.Point.fromBytes(compressed).toBytes(false)
    return `0x${keccak_256(publicKey.subarray(1)).subarray(12).toHex()}`
  } catch {
    // Not a point of the curve: nobody's signature.
    return null
  }
}

const base58Bytes = (text: string): Uint8Array | null => (text.length <= 90 ? (bs58.decodeUnsafe(text) ?? null) : null)

const isSolanaSignature = (address: SolanaAddress, message: string, text: string): boolean => {
  const signature = text.startsWith('0x') ? hexBytes(text) : base58Bytes(text)
  if (signature?.length !== 64) return false
  try {
    // Strict (RFC 8032, FIPS 186-5): keys of small order, under which anyone can sign anything, are refused.
    return ed25519.verify(signature, encoder.encode(message), solanaAddressBytes(address), { zip215: false })
  } catch {
    // Not a point of the curve: a program's address, say, under which nobody can sign.
    return false
  }
}

/** @param contractVerifier none: contract wallets can't prove themselves. */
export const createVerifyProof =
  (contractVerifier?: ContractProofVerifier): VerifyProof =>
  async (proof) => {
    const { address, message, signature } = proof
    if (!isEvmAddress(address)) return isSolanaSignature(address, message, signature) ? 'siws' : null
    const bytes = hexBytes(signature)
    if (bytes === null) return null
    if (recoverSigner(message, bytes) === address) return 'eip191'
    return contractVerifier !== undefined && (await contractVerifier({ ...proof, address })) ? 'erc1271' : null
  }
