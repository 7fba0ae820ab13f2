// Random secrets for people and browsers. They can't be guessed, so the store contains their plain SHA-256.
import { createHash, randomBytes } from 'node:crypto'
import { randomBase62 } from '../../domain/identifier.ts'

export interface Token {
  readonly text: string
  readonly hash: Uint8Array
}

export const hashToken = (text: string): Uint8Array => createHash('sha256').update(text).digest()

/** Returns 256 random bits as base64url. */
export const newToken = (): Token => {
  const text = randomBytes(32).toString('base64url')
  return { text, hash: hashToken(text) }
}

const RECOVERY_CODES = 10
const RECOVERY_CODE_GROUPS = 4
const RECOVERY_CODE_GROUP = 5

/**
 * Returns ten codes for a person whose authenticator is lost. Each has 119 random bits, too many to recover it from its
 * SHA-256 in a stolen table.
 */
export const newRecoveryCodes = (): readonly Token[] =>
  Array.from({ length: RECOVERY_CODES }, () => {
    const text = Array.from({ length: RECOVERY_CODE_GROUPS }, () => randomBase62(RECOVERY_CODE_GROUP)).join('-')
    return { text, hash: hashToken(text) }
  })

/**
 * Returns whether a text has the form of a recovery code, including case. Older codes with two groups are still valid.
 */
export const isRecoveryCode = (text: string): boolean =>
  /^[0-9A-Za-z]{5}-[0-9A-Za-z]{5}(-[0-9A-Za-z]{5}-[0-9A-Za-z]{5})?$/.test(text)
