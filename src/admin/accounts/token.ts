// Random secrets. They can't be guessed, so plain SHA-256 is stored.
import { createHash, randomBytes } from 'node:crypto'
import { randomBase62 } from '../../domain/identifier.ts'

export interface Token {
  readonly text: string
  readonly hash: Uint8Array
}

export const hashToken = (text: string): Uint8Array => createHash('sha256').update(text).digest()

export const newToken = (): Token => {
  const text = randomBytes(32).toString('base64url')
  return { text, hash: hashToken(text) }
}

const RECOVERY_CODES = 10
const RECOVERY_CODE_GROUPS = 4
const RECOVERY_CODE_GROUP = 5

/** Creates codes of 119 random bits, too many to recover from a SHA-256. */
export const newRecoveryCodes = (): readonly Token[] =>
  Array.from({ length: RECOVERY_CODES }, () => {
    const text = Array.from({ length: RECOVERY_CODE_GROUPS }, () => randomBase62(RECOVERY_CODE_GROUP)).join('-')
    return { text, hash: hashToken(text) }
  })

export const isRecoveryCode = (text: string): boolean =>
  /^[0-9A-Za-z]{5}-[0-9A-Za-z]{5}(-[0-9A-Za-z]{5}-[0-9A-Za-z]{5})?$/.test(text)
