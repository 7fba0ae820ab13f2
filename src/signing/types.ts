// The interfaces of signing for the rest of the service. Private keys stay behind them.
import type { AttestationRequest } from '../domain/attestation.ts'
import type { PassphraseSource } from './passphrase.ts'

/** Keccak-256 of the bytes: 32 fresh bytes. Synchronous; see keccak.ts. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array

/** One secp256k1 implementation. All implementations pass the same conformance suite. */
export interface Secp256k1Backend {
  readonly name: Secp256k1BackendName
  /** For the log: library version or file. */
  readonly description: string
  /**
   * Keeps a copy of the key, so the caller may zero its own.
   * @throws SignerUnusableError when the bytes are not 32 or not a valid private key.
   */
  createSigner(privateKey: Uint8Array): Secp256k1Signer
  /**
   * The signer's public key (65 bytes, 0x04 first) of r ‖ s ‖ v over a 32-byte digest; null when no key can have made
   * it. For signatures that were made elsewhere.
   */
  recover(digest: Uint8Array, signature: Uint8Array): Uint8Array | null
}

export type Secp256k1BackendName = 'libsecp256k1' | 'secp256k1-node' | 'noble'

export interface Secp256k1Signer {
  /** 65 bytes, 0x04 first. */
  readonly publicKey: Uint8Array
  /**
   * Signs a 32-byte digest: RFC 6979 nonce, low s. Writes r ‖ s ‖ v (v is 27 or 28) into `signature` (65 bytes).
   * @throws SignerUnusableError when a length is wrong or the library refuses.
   */
  sign(digest: Uint8Array, signature: Uint8Array): void
  /** Overwrites the key with zeros. After this the signer refuses. */
  erase(): void
}

/**
 * The parts of a request that all three formats sign. Each format adds the policy (a project's verification hash) and
 * either the chain's id or the quorum. A Job of the pool can be passed as one.
 */
export interface Statement {
  readonly uuid: string
  readonly request: Pick<AttestationRequest, 'from' | 'to' | 'value' | 'data'>
  /** Unix seconds; of a v1 task a block number or Unix seconds. */
  readonly expiration: number
}

/** The hardware token that attester keys may live in. */
export interface TokenSettings {
  /** Entry of the thread that signs with the token. */
  readonly thread: string
  /** Absolute path of the vendor's PKCS#11 library. */
  readonly module: string
  /** Label of the token. */
  readonly token: string
  /** Where the PIN is read at each login. It is not kept. */
  readonly pin: PassphraseSource
  /** Path in the data folder that the names of the files of a login begin with. */
  readonly loginFile: string
  /** A token that takes longer for one signature counts as away. */
  readonly answerMs: number
}

/** The keystore to open, and the key that it must hold. The pool's `AttesterReference` has this shape. */
export interface KeystoreReference {
  readonly id: string
  readonly kind: 'secp256k1' | 'ed25519'
  /** Checksummed EVM address or base58 public key: must equal the address derived from the key. */
  readonly address: string
  /** Path of the keystore; for a key in a token its PKCS#11 URI. */
  readonly keystorePath: string
  readonly status: 'active' | 'retiring'
}

/**
 * How much work one guess at the passphrase costs. `standard` is for passphrases that people choose. `light` is only
 * for generated passphrases of 256 random bits, which can't be guessed anyway, so that the start is quick.
 */
export type KeystoreWorkFactor = 'standard' | 'light'

/** A key in a token, for the thread that signs with it. */
export interface TokenSigner {
  /**
   * Signs 32 bytes: r ‖ s ‖ v as Secp256k1Signer, or 64 bytes by Ed25519. The signature was verified.
   * @throws TokenUnavailableError, TokenUnusableError, AttesterMismatchError, SignerUnusableError after `erase`
   */
  sign(bytes: Uint8Array): Uint8Array
  erase(): void
}

/** An attester key that can sign: what a worker holds for each of its keystores. */
export interface EvmAttester {
  readonly id: string
  /** EIP-55 checksummed. */
  readonly address: string
  /** The address as a number, for v1's ascending order of signers. */
  readonly order: bigint
  /**
   * 0x-hex of the 65-byte signature over a 32-byte digest.
   * @throws SignerUnusableError when the digest is not 32 bytes or the keyring was erased.
   */
  signDigest(digest: Uint8Array): string
}

export interface SolanaAttester {
  readonly id: string
  /** Base58 public key. */
  readonly address: string
  /**
   * 0x-hex of the 64-byte signature over a 32-byte message.
   * @throws SignerUnusableError when the message is not 32 bytes or the keyring was erased.
   */
  signMessage(message: Uint8Array): string
}

/** The opened keys, the oldest active one first. Only active keys are opened: a retiring key signs nothing any more. */
export interface Keyring {
  readonly evm: readonly EvmAttester[]
  readonly solana: readonly SolanaAttester[]
  /**
   * Overwrites the keys where possible, after another keyring has taken over, except keys that the other one shares. The
   * attesters then refuse to sign.
   */
  erase(): void
}
