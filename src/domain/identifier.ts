// Ids are created by the service, never by the database: a prefix for the type of object, then 16 base62 characters.
import { randomBytes, randomUUID } from 'node:crypto'

export const BASE62_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Returns `length` uniformly random base62 characters (rejection sampling: 248 is the largest multiple of 62 below
 * 256).
 */
export const randomBase62 = (length: number): string => {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && text.length < length) text += BASE62_ALPHABET[byte % 62]
    }
  }
  return text
}

/** For example `policy_4mBqk0WcJd2TnXfA` (decisions §2, "Ids"). */
export const newIdentifier = (prefix: string): string => `${prefix}_${randomBase62(16)}`

/**
 * Returns an id that sorts, as text, by creation time: milliseconds in nine base62 digits, then seven random digits.
 * For rows whose order matters, for example which key signs.
 */
export const newOrderedIdentifier = (prefix: string, atMs = Date.now()): string => {
  let digits = ''
  for (let rest = atMs; digits.length < 9; rest = Math.floor(rest / 62)) digits = BASE62_ALPHABET[rest % 62] + digits
  return `${prefix}_${digits}${randomBase62(7)}`
}

/** `x-` and 32 hex digits: within the 64 bytes that the Solana program allows. */
export const newVerificationHash = (): string => `x-${randomBytes(16).toString('hex')}`

/** UUID v4 (RFC 9562). */
export const newUuid = (): string => randomUUID()

/** UUID v7 (RFC 9562): increases with time, so that sessions are stored and sorted by their creation. */
export const newSessionId = (): string => Bun.randomUUIDv7()

/** UUID v7 (RFC 9562): the ids of one process sort by their creation, even within a second. */
export const newOrderedId = (): string => Bun.randomUUIDv7()
