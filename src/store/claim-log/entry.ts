// A claim in the log: 64 bytes, so that an entry can be found by its number in the group.
import type { IdempotencyClaim } from '../idempotency.ts'

export interface ClaimEntry {
  /** 16-byte hash of organization, API key and idempotency key. */
  readonly digest: Uint8Array
  /** 16-byte hash of all values that a retry must repeat. */
  readonly bodyHash: Uint8Array
  readonly uuid: string
  readonly claimExpiresAtSeconds: number
  readonly keepUntilSeconds: number
  /** Unix seconds; nothing was signed under the uuid earlier. */
  readonly uuidSinceSeconds: number
  readonly released: boolean
}

export interface PlacedEntry extends ClaimEntry {
  /** Distance to the superseded entry for the same key; 0 if there is none or it is too far away. */
  readonly replaces: number
}

export const ENTRY_BYTES = 64
export const HASH_BYTES = 16
const BODY_AT = 16
const UUID_AT = 32
const EXPIRES_AT = 48
const KEPT_AT = 52
const SINCE_AT = 56
const RELEASED_AT = 60
const REPLACES_MAX = 0xff_ffff
const SECONDS_MAX = 0xffff_ffff

/** Returns half of a SHA-256 hash: it is infeasible to find another caller's digest. */
export const digestOf = (claim: Pick<IdempotencyClaim, 'organizationId' | 'keyId' | 'idempotencyKey'>): Uint8Array => {
  const digest = new Uint8Array(32)
  Bun.SHA256.hash(`${claim.organizationId}\n${claim.keyId}\n${claim.idempotencyKey}`, digest)
  return digest
}

export const sameHash = (left: Uint8Array, right: Uint8Array): boolean => {
  for (let at = 0; at < HASH_BYTES; at++) if (left[at] !== right[at]) return false
  return true
}

export const readUint32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0

const writeUint32 = (bytes: Uint8Array, at: number, value: number): void => {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

const hexDigit = (code: number): number => (code <= 57 ? code - 48 : (code | 32) - 87)

const writeUuid = (bytes: Uint8Array, at: number, uuid: string): void => {
  let place = at
  for (let index = 0; index < uuid.length; index += 2) {
    if (uuid.charCodeAt(index) === 45) index++
    bytes[place++] = (hexDigit(uuid.charCodeAt(index)) << 4) | hexDigit(uuid.charCodeAt(index + 1))
  }
}

const uuidText = (bytes: Uint8Array): string => {
  const hex = Buffer.from(bytes).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Times are 32-bit seconds, up to the year 2106. */
export const entryBytes = (entries: readonly PlacedEntry[]): Uint8Array => {
  const bytes = new Uint8Array(entries.length * ENTRY_BYTES)
  let offset = 0
  for (const entry of entries) {
    const { digest, bodyHash } = entry
    for (let at = 0; at < HASH_BYTES; at++) {
      bytes[offset + at] = digest[at]!
      bytes[offset + BODY_AT + at] = bodyHash[at]!
    }
    writeUuid(bytes, offset + UUID_AT, entry.uuid)
    writeUint32(bytes, offset + EXPIRES_AT, entry.claimExpiresAtSeconds)
    writeUint32(bytes, offset + KEPT_AT, Math.min(entry.keepUntilSeconds, SECONDS_MAX))
    writeUint32(bytes, offset + SINCE_AT, entry.uuidSinceSeconds)
    writeUint32(bytes, offset + RELEASED_AT, entry.replaces > REPLACES_MAX ? 0 : entry.replaces)
    bytes[offset + RELEASED_AT] = entry.released ? 1 : 0
    offset += ENTRY_BYTES
  }
  return bytes
}

export const readKeepUntil = (bytes: Uint8Array, offset: number): number => readUint32(bytes, offset + KEPT_AT)

export const readReplaces = (bytes: Uint8Array, offset: number): number =>
  readUint32(bytes, offset + RELEASED_AT) & REPLACES_MAX

export const readEntry = (bytes: Uint8Array, offset: number): ClaimEntry => ({
  digest: bytes.slice(offset, offset + BODY_AT),
  bodyHash: bytes.slice(offset + BODY_AT, offset + UUID_AT),
  uuid: uuidText(bytes.subarray(offset + UUID_AT, offset + EXPIRES_AT)),
  claimExpiresAtSeconds: readUint32(bytes, offset + EXPIRES_AT),
  keepUntilSeconds: readKeepUntil(bytes, offset),
  uuidSinceSeconds: readUint32(bytes, offset + SINCE_AT),
  released: bytes[offset + RELEASED_AT] !== 0,
})
