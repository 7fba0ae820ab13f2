// API keys: their text, checksum, hash and status. A key is shown once; only its id and SHA-256 hash are stored.
// Source: decisions §1, "Keys".
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { BASE62_ALPHABET, randomBase62 } from './identifier.ts'

export type ApiKeyKind = 'attestation' | 'identity' | 'admin'
export type ApiKeyEnvironment = 'live' | 'test'
/** `deployment`: an admin key that may also administer the deployment. Not part of any kind; granted manually. */
export type ApiKeyScope = 'attestation' | 'identity' | 'admin' | 'deployment'

/** The scopes of each kind of key. A valid key without the scope gets a 403 response. */
export const SCOPES_BY_KIND: Readonly<Record<ApiKeyKind, readonly ApiKeyScope[]>> = {
  attestation: ['attestation'],
  identity: ['identity'],
  admin: ['admin'],
}

export interface ParsedApiKey {
  readonly kind: ApiKeyKind
  readonly environment: ApiKeyEnvironment
  readonly keyId: string
}

export interface ApiKeyRateLimit {
  readonly requestsPerSecond: number
  readonly burst: number
}

export const DEFAULT_RATE_LIMIT: ApiKeyRateLimit = { requestsPerSecond: 1_000, burst: 2_000 }

/** Data of a key without anything that could replace the key. */
export interface ApiKeyRecord {
  readonly keyId: string
  readonly organizationId: string
  readonly kind: ApiKeyKind
  readonly environment: ApiKeyEnvironment
  readonly scopes: readonly ApiKeyScope[]
  readonly name: string
  readonly createdAtSeconds: number
  /** The first second in which the key no longer works. Null if it does not expire. */
  readonly expiresAtSeconds: number | null
  readonly revokedAtSeconds: number | null
  /** Accurate to a few seconds. Null if never used. */
  readonly lastUsedAtSeconds: number | null
  /** The key that replaced this one. Null if it was not regenerated. */
  readonly replacedByKeyId: string | null
  /** Null for no limit. */
  readonly rateLimit: ApiKeyRateLimit | null
}

/** A record with the data to recognize its key. Stays inside the process: never listed, logged or returned. */
export interface ApiKeyCredential extends ApiKeyRecord {
  readonly hash: Uint8Array
}

const KIND_LETTERS: Readonly<Record<ApiKeyKind, string>> = { attestation: 'csa', identity: 'csi', admin: 'csm' }
const KINDS = Object.keys(KIND_LETTERS) as ApiKeyKind[]
export const API_KEY_ENVIRONMENTS: readonly ApiKeyEnvironment[] = ['live', 'test']

const PREFIX_LENGTH = 9
const KEY_ID_LENGTH = 12
/** 62^43 is just above 2^256. */
const SECRET_LENGTH = 43
/** 62^6 is greater than 2^32. */
const CHECKSUM_LENGTH = 6
const BODY_LENGTH = PREFIX_LENGTH + KEY_ID_LENGTH + SECRET_LENGTH
export const API_KEY_LENGTH = BODY_LENGTH + CHECKSUM_LENGTH

const prefixOf = (kind: ApiKeyKind, environment: ApiKeyEnvironment): string => `${KIND_LETTERS[kind]}_${environment}_`

const PREFIXES = new Map(
  KINDS.flatMap((kind) =>
    API_KEY_ENVIRONMENTS.map((environment) => [prefixOf(kind, environment), { kind, environment }] as const),
  ),
)

/** Char code → base62 digit. -1 for any other code below 128. */
const DIGITS = new Int8Array(128).fill(-1)
for (const [digit, character] of [...BASE62_ALPHABET].entries()) DIGITS[character.charCodeAt(0)] = digit

const digitAt = (text: string, index: number): number => {
  const code = text.charCodeAt(index)
  return code < 128 ? DIGITS[code]! : -1
}

const toFixedBase62 = (value: bigint, length: number): string => {
  let rest = value
  let text = ''
  for (let position = 0; position < length; position++) {
    text = BASE62_ALPHABET[Number(rest % 62n)] + text
    rest /= 62n
  }
  return text
}

export interface MintedApiKey extends ParsedApiKey {
  /** The key itself. It is returned once, to the requester only. */
  readonly text: string
}

/**
 * Creates a new key: prefix, 12 characters of id, 32 random bytes as 43 base62 characters, and the CRC-32 of all of
 * these as 6.
 */
export const mintApiKey = (kind: ApiKeyKind, environment: ApiKeyEnvironment): MintedApiKey => {
  const keyId = randomBase62(KEY_ID_LENGTH)
  const secret = toFixedBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_LENGTH)
  const body = prefixOf(kind, environment) + keyId + secret
  const text = body + toFixedBase62(BigInt(Bun.hash.crc32(body)), CHECKSUM_LENGTH)
  return { kind, environment, keyId, text }
}

/**
 * Null if malformed. A CRC detects every typing error in one character, so most wrong keys are rejected without a
 * lookup. It proves nothing about the sender of the key.
 */
export const parseApiKey = (text: string): ParsedApiKey | null => {
  if (text.length !== API_KEY_LENGTH) return null
  const prefix = PREFIXES.get(text.slice(0, PREFIX_LENGTH))
  if (prefix === undefined) return null
  for (let index = PREFIX_LENGTH; index < BODY_LENGTH; index++) if (digitAt(text, index) < 0) return null
  let checksum = 0
  for (let index = BODY_LENGTH; index < API_KEY_LENGTH; index++) {
    const digit = digitAt(text, index)
    if (digit < 0) return null
    checksum = checksum * 62 + digit
  }
  if (Bun.hash.crc32(text.slice(0, BODY_LENGTH)) !== checksum) return null
  const keyId = text.slice(PREFIX_LENGTH, PREFIX_LENGTH + KEY_ID_LENGTH)
  return { kind: prefix.kind, environment: prefix.environment, keyId }
}

/** Returns the key id in a text with a key's length, which may not be a key. Null for any other length. */
export const possibleKeyId = (text: string): string | null =>
  text.length === API_KEY_LENGTH ? text.slice(PREFIX_LENGTH, PREFIX_LENGTH + KEY_ID_LENGTH) : null

/** 32 bytes. The secret has 256 random bits, so a slow hash is unnecessary. */
export const hashApiKey = (text: string): Uint8Array => {
  const hash = new Uint8Array(32)
  Bun.SHA256.hash(text, hash)
  return hash
}

const compared = new Uint8Array(32)

/** Compares in constant time (threats row 21). For an unknown key id, compare with any 32 bytes too. */
export const matchesApiKey = (text: string, hash: Uint8Array): boolean => {
  Bun.SHA256.hash(text, compared)
  return timingSafeEqual(compared, hash)
}

export type ApiKeyStatus = 'active' | 'expired' | 'revoked'

/** Returns the key's status at this moment. Only `active` keys work. */
export const apiKeyStatus = (
  key: Pick<ApiKeyRecord, 'expiresAtSeconds' | 'revokedAtSeconds'>,
  nowSeconds: number,
): ApiKeyStatus => {
  if (key.revokedAtSeconds !== null) return 'revoked'
  return key.expiresAtSeconds !== null && nowSeconds >= key.expiresAtSeconds ? 'expired' : 'active'
}
