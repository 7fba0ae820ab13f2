// Opens the attester keys for a signing thread. Private keys exist only in the closures below (invariant 5), or in a
// hardware token. An address is always derived from its key.
import { readFile } from 'node:fs/promises'
import bs58 from 'bs58'
import { evmAddressOf } from './address.ts'
import { createEd25519Signer } from './ed25519.ts'
import {
  AttesterMismatchError,
  KeystoreInvalidError,
  KeystoreLockedError,
  SignerUnusableError,
  SigningError,
  TokenUnusableError,
} from './errors.ts'
import { decryptKeystorePkcs8 } from './keystore-pkcs8.ts'
import { decryptKeystoreV3 } from './keystore-v3.ts'
import { PassphraseMissingError } from './passphrase.ts'
import { isTokenKey } from './token-key.ts'
import type { EvmAttester, Keyring, KeystoreReference, Secp256k1Backend, SolanaAttester, TokenSigner } from './types.ts'

/** Reads the passphrases, newest first. */
export type ReadPassphrases = () => Promise<readonly string[]>

interface Opened<Attester> {
  readonly attester: Attester
  erase(): void
}

/** An open key with a reference count: the last keyring to release it erases it. */
interface SharedKey {
  readonly evm?: EvmAttester
  readonly solana?: SolanaAttester
  readonly erase: () => void
  holders: number
}

/** The keys of each keyring by `keyOf`, which later keyrings share. */
const keysOf = new WeakMap<Keyring, ReadonlyMap<string, SharedKey>>()

const keyOf = ({ id, kind, address, keystorePath }: KeystoreReference): string =>
  JSON.stringify([id, kind, address, keystorePath])

const readKeystore = async (reference: KeystoreReference): Promise<string> => {
  try {
    return await readFile(reference.keystorePath, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw new KeystoreInvalidError(`the file cannot be read (${code})`)
  }
}

/** Rejects only if the keyring must not be used without the key. */
export type OpenTokenKey = (reference: KeystoreReference) => Promise<TokenSigner>

const evmAttesterOf = ({ id }: KeystoreReference, address: string, sign: (digest: Uint8Array) => Uint8Array) => ({
  id,
  address,
  order: BigInt(address),
  signDigest: (digest: Uint8Array) => `0x${sign(digest).toHex()}`,
  // Omit `order`, because a bigint has no JSON form.
  toJSON: () => ({ id, address }),
})

const solanaAttesterOf = ({ id }: KeystoreReference, address: string, sign: (message: Uint8Array) => Uint8Array) => ({
  id,
  address,
  signMessage: (message: Uint8Array) => {
    if (message.length !== 32) throw new SignerUnusableError('a message must be 32 bytes')
    return `0x${sign(message).toHex()}`
  },
  toJSON: () => ({ id, address }),
})

const requireAddress = (reference: KeystoreReference, derived: string): void => {
  if (derived === reference.address) return
  throw new AttesterMismatchError(`it contains the key of ${derived}, not of ${reference.address}`)
}

const openEvmAttester = async (
  reference: KeystoreReference,
  passphrase: string,
  backend: Secp256k1Backend,
): Promise<Opened<EvmAttester>> => {
  const { privateKey } = await decryptKeystoreV3(await readKeystore(reference), passphrase)
  try {
    const signer = backend.createSigner(privateKey)
    const address = evmAddressOf(signer.publicKey)
    requireAddress(reference, address)
    const signature = Buffer.alloc(65)
    const attester = evmAttesterOf(reference, address, (digest) => {
      signer.sign(digest, signature)
      return signature
    })
    return { attester, erase: () => signer.erase() }
  } finally {
    privateKey.fill(0)
  }
}

const openSolanaAttester = async (
  reference: KeystoreReference,
  passphrase: string,
): Promise<Opened<SolanaAttester>> => {
  const seed = await decryptKeystorePkcs8(await readKeystore(reference), passphrase)
  try {
    const signer = createEd25519Signer(seed)
    const address = bs58.encode(signer.publicKey)
    requireAddress(reference, address)
    return { attester: solanaAttesterOf(reference, address, signer.sign), erase: () => signer.erase() }
  } finally {
    seed.fill(0)
  }
}

/** If no passphrase works, reads them again: a rotation may have started or have replaced the keystore. */
const openByAny = async <Result>(
  passphrases: ReadPassphrases,
  open: (passphrase: string) => Promise<Result>,
): Promise<Result> => {
  let tried: readonly string[] = []
  let failure: unknown
  for (let round = 1; ; round++) {
    const known = await passphrases()
    const isRotating = known.length > 1 && round <= 2
    if (!isRotating && known.every((passphrase) => tried.includes(passphrase))) throw failure
    for (const passphrase of known) {
      try {
        return await open(passphrase)
      } catch (error) {
        if (!(error instanceof KeystoreLockedError)) throw error
        failure = error
      }
    }
    tried = known
  }
}

/** Adds the attester and its keystore to an error. */
const withAttester = (error: unknown, reference: KeystoreReference): unknown => {
  // A missing passphrase does not concern a single keystore.
  if (!(error instanceof SigningError) || error instanceof PassphraseMissingError) return error
  const Kind = error.constructor as new (detail: string) => SigningError
  const what = isTokenKey(reference.keystorePath) ? 'key' : 'keystore'
  return new Kind(`${what} ${reference.keystorePath} of attester ${reference.id}: ${error.detail}`)
}

const refuseTokenKey: OpenTokenKey = async () => {
  throw new TokenUnusableError('the key is in a hardware token, but pkcs11-module is not set')
}

const openKey = async (
  reference: KeystoreReference,
  passphrases: ReadPassphrases,
  backend: Secp256k1Backend,
  openTokenKey: OpenTokenKey,
): Promise<SharedKey> => {
  const { kind, address, keystorePath } = reference
  if (isTokenKey(keystorePath)) {
    const { sign, erase } = await openTokenKey(reference)
    if (kind === 'secp256k1') return { evm: evmAttesterOf(reference, address, sign), erase, holders: 1 }
    return { solana: solanaAttesterOf(reference, address, sign), erase, holders: 1 }
  }
  if (kind === 'secp256k1') {
    const opened = await openByAny(passphrases, (passphrase) => openEvmAttester(reference, passphrase, backend))
    return { evm: opened.attester, erase: opened.erase, holders: 1 }
  }
  const opened = await openByAny(passphrases, (passphrase) => openSolanaAttester(reference, passphrase))
  return { solana: opened.attester, erase: opened.erase, holders: 1 }
}

const release = (keys: Iterable<SharedKey>): void => {
  for (const key of keys) {
    key.holders -= 1
    if (key.holders === 0) key.erase()
  }
}

/**
 * Opens the active references sequentially, because deriving a key may take 256 MiB. Retiring keystores and keys held
 * by `inUse` are not opened: a key can be retired even if no file is readable.
 * @throws KeystoreLockedError, KeystoreInvalidError; AttesterMismatchError if a key does not match its reference;
 * SignerUnusableError if the backend refuses a key; the errors of `passphrases` and `openTokenKey`
 */
export const openKeyring = async (
  references: readonly KeystoreReference[],
  passphrases: ReadPassphrases,
  backend: Secp256k1Backend,
  openTokenKey: OpenTokenKey = refuseTokenKey,
  inUse: Keyring | null = null,
): Promise<Keyring> => {
  const keys = new Map<string, SharedKey>()
  const loaded = inUse === null ? undefined : keysOf.get(inUse)
  for (const reference of references) {
    if (reference.status !== 'active') continue
    const name = keyOf(reference)
    const held = loaded?.get(name)
    if (held !== undefined && held.holders > 0) {
      held.holders += 1
      keys.set(name, held)
      continue
    }
    try {
      keys.set(name, await openKey(reference, passphrases, backend, openTokenKey))
    } catch (error) {
      release(keys.values())
      throw withAttester(error, reference)
    }
  }
  let erased = false
  const keyring: Keyring = {
    evm: [...keys.values()].flatMap(({ evm }) => evm ?? []),
    solana: [...keys.values()].flatMap(({ solana }) => solana ?? []),
    erase: () => {
      if (!erased) release(keys.values())
      erased = true
    },
  }
  keysOf.set(keyring, keys)
  return keyring
}
