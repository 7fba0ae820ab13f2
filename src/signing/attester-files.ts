// Creates and imports attester keys, encrypted with the deployment's passphrase. Used by the command line and at first
// startup, never by a signing thread.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import bs58 from 'bs58'
import { evmAddressOf } from './address.ts'
import { createEd25519Signer } from './ed25519.ts'
import { AttesterMismatchError, KeystoreExistsError, KeystoreInvalidError, KeystoreLockedError } from './errors.ts'
import { decryptKeystorePkcs8, encryptKeystorePkcs8, hasKeystoreMac } from './keystore-pkcs8.ts'
import { decryptKeystoreV3, encryptKeystoreV3 } from './keystore-v3.ts'
import { makePrivateDirectory, writePrivateFile } from './private-file.ts'
import { type ParsedPrivateKey, type PrivateKeySource, parsePrivateKey } from './private-key-text.ts'
import { chooseSecp256k1Backend } from './secp256k1-backends.ts'
import type { KeystoreWorkFactor } from './types.ts'

export interface KeystoreDestination {
  readonly directory: string
  readonly passphrase: string
  readonly workFactor: KeystoreWorkFactor
}

export interface AttesterKeystore {
  readonly kind: 'secp256k1' | 'ed25519'
  /** Checksummed EVM address or base58 public key. */
  readonly address: string
  readonly path: string
}

/** Uses the signing backend, because the tables of the JavaScript implementation take several megabytes. */
const publicKeyOf = (privateKey: Uint8Array): Uint8Array => {
  const signer = chooseSecp256k1Backend('auto').backend.createSigner(privateKey)
  signer.erase()
  return signer.publicKey
}

const addressOf = ({ kind, privateKey }: ParsedPrivateKey): string =>
  kind === 'secp256k1' ? evmAddressOf(publicKeyOf(privateKey)) : bs58.encode(createEd25519Signer(privateKey).publicKey)

const encrypt = ({ kind, privateKey }: ParsedPrivateKey, address: string, destination: KeystoreDestination) => {
  const { passphrase, workFactor } = destination
  return kind === 'secp256k1'
    ? encryptKeystoreV3({ privateKey, address, passphrase, workFactor })
    : encryptKeystorePkcs8({ seed: privateKey, passphrase, workFactor })
}

/** Call before writing a keystore: a keystore that cannot be opened would be a lost key. */
const requireOpens = async (text: string, key: ParsedPrivateKey, passphrase: string): Promise<void> => {
  const opened =
    key.kind === 'secp256k1'
      ? (await decryptKeystoreV3(text, passphrase)).privateKey
      : await decryptKeystorePkcs8(text, passphrase)
  const same = Buffer.compare(opened, key.privateKey) === 0
  opened.fill(0)
  if (!same) throw new KeystoreInvalidError('the new keystore failed verification and was not written')
}

/** Detects the format by the file's extension. @throws KeystoreLockedError, KeystoreInvalidError */
const openKeystoreFile = async (path: string, text: string, passphrase: string): Promise<ParsedPrivateKey> =>
  path.endsWith('.json')
    ? { kind: 'secp256k1', privateKey: (await decryptKeystoreV3(text, passphrase)).privateKey }
    : { kind: 'ed25519', privateKey: await decryptKeystorePkcs8(text, passphrase) }

/** Address in a file name made by `store`; null for any other name. */
const namedAddress = (path: string): string | null =>
  /^(?:secp256k1|ed25519)-([0-9A-Za-z]+)\.(?:json|pem)$/.exec(basename(path))?.[1] ?? null

/** Detects damage that no MAC covers, for example of a v3 initialization vector. It would yield a different key. */
const requireNamedKey = (path: string, address: string): void => {
  const named = namedAddress(path)
  if (named === null || named === address) return
  throw new AttesterMismatchError(`${path} is damaged: it contains the key of ${address}; nothing was written`)
}

/**
 * Re-encrypts a keystore with another passphrase, atomically. Returns false if the keystore is already up to date.
 * @throws KeystoreLockedError if neither passphrase opens it; KeystoreInvalidError; AttesterMismatchError
 */
export const relockKeystore = async (
  path: string,
  oldPassphrase: string,
  destination: Omit<KeystoreDestination, 'directory'>,
): Promise<boolean> => {
  const text = await readFile(path, 'utf8')
  const { passphrase } = destination
  const open = (by: string): Promise<ParsedPrivateKey | null> =>
    openKeystoreFile(path, text, by).catch((error: unknown) => {
      if (error instanceof KeystoreLockedError) return null
      throw error
    })
  const already = await open(passphrase)
  const isCurrent = already !== null && (already.kind === 'secp256k1' || hasKeystoreMac(text))
  const key = already ?? (await open(oldPassphrase))
  if (key === null) throw new KeystoreLockedError(`neither passphrase decrypts ${path}`)
  try {
    const address = addressOf(key)
    requireNamedKey(path, address)
    if (isCurrent) return false
    const relocked = await encrypt(key, address, { ...destination, directory: dirname(path) })
    await requireOpens(relocked, key, passphrase)
    await writePrivateFile(path, relocked)
    return true
  } finally {
    key.privateKey.fill(0)
  }
}

const store = async (key: ParsedPrivateKey, destination: KeystoreDestination): Promise<AttesterKeystore> => {
  try {
    if (destination.passphrase.length === 0) throw new KeystoreInvalidError('the passphrase is empty')
    const address = addressOf(key)
    const extension = key.kind === 'secp256k1' ? 'json' : 'pem'
    const path = resolve(join(destination.directory, `${key.kind}-${address}.${extension}`))
    if (existsSync(path)) throw new KeystoreExistsError(`a keystore for ${address} already exists at ${path}`)
    const text = await encrypt(key, address, destination)
    await requireOpens(text, key, destination.passphrase)
    await makePrivateDirectory(destination.directory)
    await writePrivateFile(path, text)
    return { kind: key.kind, address, path }
  } finally {
    key.privateKey.fill(0)
  }
}

/** @throws KeystoreInvalidError if the passphrase is empty */
export const createAttesterKeystore = (
  options: KeystoreDestination & { readonly kind: 'secp256k1' | 'ed25519' },
): Promise<AttesterKeystore> => {
  const privateKey = options.kind === 'secp256k1' ? secp256k1.utils.randomSecretKey() : Uint8Array.from(randomBytes(32))
  return store({ kind: options.kind, privateKey }, options)
}

/** @throws PrivateKeyInvalidError, KeystoreLockedError, KeystoreInvalidError; KeystoreExistsError */
export const importAttesterKey = async (
  options: KeystoreDestination & { readonly source: PrivateKeySource },
): Promise<AttesterKeystore> => store(await parsePrivateKey(options.source), options)
