// API keys. A key is shown once; only its id and SHA-256 hash are stored. Source: decisions §1, "Keys".
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { BASE62_ALPHABET, randomBase62 } from './identifier.ts'

export type ApiKeyKind = 'attestation' | 'identity' | 'admin'
export type ApiKeyEnvironment = 'live' | 'test'
/** `deployment`: for admin keys that may also administer the deployment; granted manually. */
export type ApiKeyScope = 'attestation' | 'identity' | 'admin' | 'deployment'

/** A valid key without the required scope gets a 403 response. */
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

/** Data of a key without the key and its hash, so it grants no access. */
export interface ApiKeyRecord {
  readonly keyId: string
  readonly organizationId: string
  readonly kind: ApiKeyKind
  readonly environment: ApiKeyEnvironment
  readonly scopes: readonly ApiKeyScope[]
  readonly name: string
  readonly createdAtSeconds: number
  /** First second in which the key no longer works; null if it doesn't expire. */
  readonly expiresAtSeconds: number | null
  readonly revokedAtSeconds: number | null
  /** Accurate to a few seconds; null if never used. */
  readonly lastUsedAtSeconds: number | null
  /** Key that replaced this key when it was regenerated; null if there is none. */
  readonly replacedByKeyId: string | null
  /** Null if the key has no limit. */
  readonly rateLimit: ApiKeyRateLimit | null
}

/** Data to recognize a key: never listed, logged or returned. */
export interface ApiKeyCredential extends ApiKeyRecord {
  readonly hash: Uint8Array
}

const KIND_LETTERS: Readonly<Record<ApiKeyKind, string>> = { attestation: 'csa', identity: 'csi', admin: 'csm' }
const KINDS = Object.keys(KIND_LETTERS) as ApiKeyKind[]
export const API_KEY_ENVIRONMENTS: readonly ApiKeyEnvironment[] = ['live', 'test']

const PREFIX_LENGTH = 9
const KEY_ID_LENGTH = 12
/** Length of the secret: 62^43 is just above 2^256. */
const SECRET_LENGTH = 43
/** Length of the checksum: 62^6 is greater than 2^32. */
const CHECKSUM_LENGTH = 6
const BODY_LENGTH = PREFIX_LENGTH + KEY_ID_LENGTH + SECRET_LENGTH
export const API_KEY_LENGTH = BODY_LENGTH + CHECKSUM_LENGTH

const prefixOf = (kind: ApiKeyKind, environment: ApiKeyEnvironment): string => `${KIND_LETTERS[kind]}_${environment}_`

const PREFIXES = new Map(
  KINDS.flatMap((kind) =>
    API_KEY_ENVIRONMENTS.map((environment) => [prefixOf(kind, environment), { kind, environment }] as const),
  ),
)

/** Base62 digit of each char code; -1 for other codes below 128. */
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
  /** The key itself, returned once to the requester. */
  readonly text: string
}

/** A key consists of a prefix, 12 characters of id, 32 random bytes as 43 base62 characters, and a CRC-32 as 6. */
export const mintApiKey = (kind: ApiKeyKind, environment: ApiKeyEnvironment): MintedApiKey => {
  const keyId = randomBase62(KEY_ID_LENGTH)
  const secret = toFixedBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_LENGTH)
  const body = prefixOf(kind, environment) + keyId + secret
  const text = body + toFixedBase62(BigInt(Bun.hash.crc32(body)), CHECKSUM_LENGTH)
  return { kind, environment, keyId, text }
}

/** Returns null if malformed. The CRC detects every typo in one character without a lookup; it proves nothing else. */
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

/** Returns the key id in any text with a key's length; null for other lengths. */
export const possibleKeyId = (text: string): string | null =>
  text.length === API_KEY_LENGTH ? text.slice(PREFIX_LENGTH, PREFIX_LENGTH + KEY_ID_LENGTH) : null

/** Returns a hash of 32 bytes. The secret has 256 random bits, so it needs no slow hash. */
export const hashApiKey = (text: string): Uint8Array => {
  const hash = new Uint8Array(32)
  Bun.SHA256.hash(text, hash)
  return hash
}

const compared = new Uint8Array(32)

/** Takes constant time (threats row 21). For an unknown key id, call it with any 32 bytes. */
export const matchesApiKey = (text: string, hash: Uint8Array): boolean => {
  Bun.SHA256.hash(text, compared)
  return timingSafeEqual(compared, hash)
}

export const apiKeyStatus = (
  key: Pick<ApiKeyRecord, 'expiresAtSeconds' | 'revokedAtSeconds'>,
  nowSeconds: number,
): 'active' | 'expired' | 'revoked' => {
  if (key.revokedAtSeconds !== null) return 'revoked'
  return key.expiresAtSeconds !== null && nowSeconds >= key.expiresAtSeconds ? 'expired' : 'active'
}
