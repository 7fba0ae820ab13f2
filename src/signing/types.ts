// Interfaces of signing for the rest of the service, which hide the private keys.
import type { AttestationRequest } from '../domain/attestation.ts'
import type { PassphraseSource } from './passphrase.ts'

/** Returns the Keccak-256 hash of the bytes as a new array of 32 bytes. Synchronous; see statement.ts. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array

/** A secp256k1 implementation. All implementations pass the same conformance suite. */
export interface Secp256k1Backend {
  readonly name: Secp256k1BackendName
  /** Library version or file, for the log. */
  readonly description: string
  /**
   * Keeps a copy of the key, so that the caller may zero the original.
   * @throws SignerUnusableError if the bytes are not a valid private key of 32 bytes
   */
  createSigner(privateKey: Uint8Array): Secp256k1Signer
  /**
   * Returns the signer's public key (65 bytes, starting with 0x04) for a signature r ‖ s ‖ v over a 32-byte digest.
   * Returns null if no key can have made the signature. Accepts signatures from any source.
   */
  recover(digest: Uint8Array, signature: Uint8Array): Uint8Array | null
}

export type Secp256k1BackendName = 'libsecp256k1' | 'secp256k1-node' | 'noble'

export interface Secp256k1Signer {
  /** 65 bytes, starting with 0x04. */
  readonly publicKey: Uint8Array
  /**
   * Signs a 32-byte digest: nonce according to RFC 6979, low s. Writes r ‖ s ‖ v (v is 27 or 28) to `signature` (65
   * bytes).
   * @throws SignerUnusableError if a length is wrong or the library reports an error
   */
  sign(digest: Uint8Array, signature: Uint8Array): void
  /** Overwrites the key with zeros. `sign` throws afterwards. */
  erase(): void
}

/**
 * The part of a request that all three formats sign. Each format adds the policy (a project's verification hash), and
 * either the chain's id or the quorum. The pool's Job is assignable to this type.
 */
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
  /** Path prefix, in the data folder, of the files of a login. */
  readonly loginFile: string
  /** Maximum time for one signature. A slower token counts as unavailable. */
  readonly answerMs: number
}

/** The keystore to open, and the key that it must contain. The pool's `AttesterReference` has this shape. */
export interface KeystoreReference {
  readonly id: string
  readonly kind: 'secp256k1' | 'ed25519'
  /** Checksummed EVM address or base58 public key. Must equal the address derived from the key. */
  readonly address: string
  /** For a key in a token, its PKCS#11 URI. */
  readonly keystorePath: string
  readonly status: 'active' | 'retiring'
}

/**
 * Cost of one guess at the passphrase. `standard` is for passphrases chosen by people. `light` makes the start faster;
 * it is only for generated passphrases of 256 random bits, which cannot be guessed.
 */
export type KeystoreWorkFactor = 'standard' | 'light'

export interface TokenSigner {
  /**
   * Signs 32 bytes and verifies the signature. Returns r ‖ s ‖ v as Secp256k1Signer does, or 64 bytes for Ed25519.
   * @throws TokenUnavailableError, TokenUnusableError, AttesterMismatchError, SignerUnusableError after `erase`
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
  /**
   * Returns the 65-byte signature over a 32-byte digest, in hexadecimal with prefix 0x.
   * @throws SignerUnusableError if the digest is not 32 bytes or the keyring was erased
   */
  signDigest(digest: Uint8Array): string
}

export interface SolanaAttester {
  readonly id: string
  /** Base58 public key. */
  readonly address: string
  /**
   * Returns the 64-byte signature over a 32-byte message, in hexadecimal with prefix 0x.
   * @throws SignerUnusableError if the message is not 32 bytes or the keyring was erased
   */
  signMessage(message: Uint8Array): string
}

/** Open keys, oldest active key first. Only active keys are opened: a retiring key no longer signs. */
export interface Keyring {
  readonly evm: readonly EvmAttester[]
  readonly solana: readonly SolanaAttester[]
  /**
   * Overwrites the keys if possible, except keys shared with another keyring. The attesters refuse to sign afterwards.
   */
  erase(): void
}
