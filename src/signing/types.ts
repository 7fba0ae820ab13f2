// Signing interfaces for the rest of the service. They hide the private keys.
import type { AttestationRequest } from '../domain/attestation.ts'
import type { PassphraseSource } from './passphrase.ts'

/** Returns a new array of 32 bytes. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array

/** A secp256k1 implementation. All implementations pass the same conformance suite. */
export interface Secp256k1Backend {
  readonly name: Secp256k1BackendName
  /** Library version or file, for the log. */
  readonly description: string
  /**
   * Copies the key, so that the caller may zero the original. @throws SignerUnusableError for an invalid private key
   */
  createSigner(privateKey: Uint8Array): Secp256k1Signer
  /**
   * Returns the public key (65 bytes, starting with 0x04) of the signer of r ‖ s ‖ v over a 32-byte digest. Null if no
   * key can have made the signature. Accepts signatures from any source.
   */
  recover(digest: Uint8Array, signature: Uint8Array): Uint8Array | null
}

export type Secp256k1BackendName = 'libsecp256k1' | 'secp256k1-node' | 'noble'

export interface Secp256k1Signer {
  /** Public key of 65 bytes, starting with 0x04. */
  readonly publicKey: Uint8Array
  /**
   * Signs a 32-byte digest with an RFC 6979 nonce and low s. Writes r ‖ s ‖ v (v is 27 or 28) to the 65 bytes of
   * `signature`. @throws SignerUnusableError if a length is wrong or the library reports an error
   */
  sign(digest: Uint8Array, signature: Uint8Array): void
  /** Overwrites the key with zeros. `sign` throws afterwards. */
  erase(): void
}

/** Part of a request that all three formats sign, in addition to the policy and either the chain's id or the quorum. */
export interface Statement {
  readonly uuid: string
  readonly request: Pick<AttestationRequest, 'from' | 'to' | 'value' | 'data'>
  /** Unix seconds. For a v1 task, a block number or Unix seconds. */
  readonly expiration: number
}

export interface TokenSettings {
  readonly thread: string
  /** Absolute path of the vendor's PKCS#11 library. */
  readonly module: string
  readonly token: string
  /** Source of the PIN, which is read at each login and not kept. */
  readonly pin: PassphraseSource
  /** Path prefix of login files in the data folder. */
  readonly loginFile: string
  /** Maximum time for one signature. A slower token counts as unavailable. */
  readonly answerMs: number
}

/** The keystore to open, and the key that it must contain. */
export interface KeystoreReference {
  readonly id: string
  readonly kind: 'secp256k1' | 'ed25519'
  /** Checksummed EVM address or base58 public key. Must equal the address derived from the key. */
  readonly address: string
  /** Path of the keystore, or the PKCS#11 URI of a key in a token. */
  readonly keystorePath: string
  readonly status: 'active' | 'retiring'
}

/** Cost per passphrase guess. `light` starts faster, but is safe only for generated passphrases of 256 bits. */
export type KeystoreWorkFactor = 'standard' | 'light'

export interface TokenSigner {
  /**
   * Signs 32 bytes and verifies the signature: r ‖ s ‖ v as in Secp256k1Signer, or 64 bytes for Ed25519. @throws
   * TokenUnavailableError, TokenUnusableError, AttesterMismatchError, SignerUnusableError after `erase`
   */
  sign(bytes: Uint8Array): Uint8Array
  erase(): void
}

/** An attester key that can sign. A worker holds one per keystore. */
export interface EvmAttester {
  readonly id: string
  readonly address: string
  /** The address as a number, for the ascending order of signers in v1. */
  readonly order: bigint
  /** Returns 65 bytes as `0x` hex. @throws SignerUnusableError unless the digest has 32 bytes, or after `erase` */
  signDigest(digest: Uint8Array): string
}

export interface SolanaAttester {
  readonly id: string
  /** Base58 public key. */
  readonly address: string
  /** Returns 64 bytes as `0x` hex. @throws SignerUnusableError unless the message has 32 bytes, or after `erase` */
  signMessage(message: Uint8Array): string
}

/** Open active keys, oldest first. A retiring key no longer signs and is not opened. */
export interface Keyring {
  readonly evm: readonly EvmAttester[]
  readonly solana: readonly SolanaAttester[]
  /** Overwrites the keys if possible, except shared keys. The attesters refuse to sign afterwards. */
  erase(): void
}
