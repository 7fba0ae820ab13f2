// Ids: a prefix for the type of object, and 16 base62 characters. The service creates them, not the database.
import { randomBytes, randomUUID } from 'node:crypto'

export const BASE62_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Uses rejection sampling for uniform characters: 248 is the largest multiple of 62 below 256. */
export const randomBase62 = (length: number): string => {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && text.length < length) text += BASE62_ALPHABET[byte % 62]
    }
  }
  return text
}

/** Returns an id such as `policy_4mBqk0WcJd2TnXfA` (decisions §2, "Ids"). */
export const newIdentifier = (prefix: string): string => `${prefix}_${randomBase62(16)}`

/** Ids sort by creation time (milliseconds in nine digits), for rows whose order matters, such as signing keys. */
export const newOrderedIdentifier = (prefix: string, atMs = Date.now()): string => {
  let digits = ''
  for (let rest = atMs; digits.length < 9; rest = Math.floor(rest / 62)) digits = BASE62_ALPHABET[rest % 62] + digits
  return `${prefix}_${digits}${randomBase62(7)}`
}

/** `x-` and 32 hex digits, within the Solana program's limit of 64 bytes. */
export const newVerificationHash = (): string => `x-${randomBytes(16).toString('hex')}`

export const newUuid = (): string => randomUUID()

/** Returns a UUID v7 (RFC 9562), so that sessions sort by creation. */
export const newSessionId = (): string => Bun.randomUUIDv7()

/** Returns a UUID v7 (RFC 9562): ids of one process sort by creation, even within a second. */
export const newOrderedId = (): string => Bun.randomUUIDv7()
