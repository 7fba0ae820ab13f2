// Parses private keys in common formats. Errors never quote the text, which cannot be zeroed and remains with the
// caller.
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { isHexBytes } from '../domain/address.ts'
import { evmAddressOf } from './address.ts'
import { createEd25519Signer } from './ed25519.ts'
import { PrivateKeyInvalidError } from './errors.ts'
import { decryptKeystoreV3 } from './keystore-v3.ts'

export type PrivateKeySource =
  /** 64 hexadecimal digits, with or without `0x`: a secp256k1 key or an Ed25519 seed. */
  | { readonly format: 'hex'; readonly kind: 'secp256k1' | 'ed25519'; readonly text: string }
  /** A Web3 Secret Storage file with its own passphrase: a secp256k1 key. */
  | { readonly format: 'keystore-v3'; readonly text: string; readonly passphrase: string }
  /** A file of `solana-keygen`, a JSON array of 64 numbers: an Ed25519 seed and its public key. */
  | { readonly format: 'solana-keypair'; readonly text: string }

/** `privateKey`: 32 bytes, which the caller must zero after use. */
export interface ParsedPrivateKey {
  readonly kind: 'secp256k1' | 'ed25519'
  readonly privateKey: Uint8Array
}

export const detectPrivateKeyFormat = (text: string): PrivateKeySource['format'] | null => {
  const trimmed = text.trim()
  if (trimmed === '') return null
  if (trimmed.startsWith('{')) return 'keystore-v3'
  if (trimmed.startsWith('[')) return 'solana-keypair'
  return isHexBytes(trimmed) || isHexBytes(`0x${trimmed}`) ? 'hex' : null
}

/** @throws PrivateKeyInvalidError if the key is zero or not below the curve's order */
const requireSecp256k1Key = (privateKey: Uint8Array): Uint8Array => {
  if (secp256k1.utils.isValidSecretKey(privateKey)) return privateKey
  throw new PrivateKeyInvalidError('the private key is outside the range of secp256k1')
}

const parseHex = (text: string): Uint8Array => {
  const trimmed = text.trim()
  const digits = trimmed.startsWith('0x') ? trimmed.slice(2) : trimmed
  if (digits.length !== 64 || !isHexBytes(`0x${digits}`)) {
    throw new PrivateKeyInvalidError('the private key must be 64 hex digits, with or without 0x')
  }
  return Uint8Array.fromHex(digits)
}

const parseKeystore = async (text: string, passphrase: string): Promise<Uint8Array> => {
  const { privateKey, address } = await decryptKeystoreV3(text, passphrase)
  requireSecp256k1Key(privateKey)
  const derived = evmAddressOf(secp256k1.getPublicKey(privateKey, false))
  if (address !== null && address !== derived.toLowerCase()) {
    throw new PrivateKeyInvalidError(`the keystore names ${address} but contains the key of ${derived}`)
  }
  return privateKey
}

const isByte = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255

const parseSolanaKeypair = (text: string): Uint8Array => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's message quotes the text, so it is not passed on.
    throw new PrivateKeyInvalidError('the file is not valid JSON')
  }
  if (!Array.isArray(value) || value.length !== 64 || !value.every(isByte)) {
    throw new PrivateKeyInvalidError('the file must contain an array of 64 bytes')
  }
  const bytes = Uint8Array.from(value)
  value.fill(0)
  const seed = bytes.slice(0, 32)
  const matches = Buffer.compare(createEd25519Signer(seed).publicKey, bytes.subarray(32)) === 0
  bytes.fill(0)
  if (matches) return seed
  seed.fill(0)
  throw new PrivateKeyInvalidError('the public key does not match the private key')
}

export const parsePrivateKey = async (source: PrivateKeySource): Promise<ParsedPrivateKey> => {
  switch (source.format) {
    case 'hex': {
      const privateKey = parseHex(source.text)
      if (source.kind === 'secp256k1') requireSecp256k1Key(privateKey)
      return { kind: source.kind, privateKey }
    }
    case 'keystore-v3':
      return { kind: 'secp256k1', privateKey: await parseKeystore(source.text, source.passphrase) }
    case 'solana-keypair':
      return { kind: 'ed25519', privateKey: parseSolanaKeypair(source.text) }
  }
}
