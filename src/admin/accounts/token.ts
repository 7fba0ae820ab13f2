// Secrets that a person or a browser carries: random enough that no slow hash is needed, and kept as SHA-256 only.
import { createHash, randomBytes } from 'node:crypto'
import { randomBase62 } from '../../domain/identifier.ts'

export interface Token {
  readonly text: string
  readonly hash: Uint8Array
}

export const hashToken = (text: string): Uint8Array => createHash('sha256').update(text).digest()

/** 256 random bits, base64url. */
export const newToken = (): Token => {
  const text = randomBytes(32).toString('base64url')
  return { text, hash: hashToken(text) }
}

const RECOVERY_CODES = 10
const RECOVERY_CODE_GROUPS = 4
const RECOVERY_CODE_GROUP = 5

/**
 * For when the authenticator is lost: ten codes of 119 random bits each, to be written down. Nobody can try so many, so a
 * plain SHA-256 of them gives a stolen table's owner nothing; of a password it would.
 */
export const newRecoveryCodes = (): readonly Token[] =>
  Array.from({ length: RECOVERY_CODES }, () => {
    const text = Array.from({ length: RECOVERY_CODE_GROUPS }, () => randomBase62(RECOVERY_CODE_GROUP)).join('-')
    return { text, hash: hashToken(text) }
  })

/** A recovery code as it was given out: letters keep their case. Codes of two groups were made before; they work until used. */
export const isRecoveryCode = (text: string): boolean =>
  /^[0-9A-Za-z]{5}-[0-9A-Za-z]{5}(-[0-9A-Za-z]{5}-[0-9A-Za-z]{5})?$/.test(text)
