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
const RECOVERY_CODE_GROUP = 5

/** For when the authenticator is lost: ten codes of some 59 random bits each, to be written down. */
export const newRecoveryCodes = (): readonly Token[] =>
  Array.from({ length: RECOVERY_CODES }, () => {
    const text = `${randomBase62(RECOVERY_CODE_GROUP)}-${randomBase62(RECOVERY_CODE_GROUP)}`
    return { text, hash: hashToken(text) }
  })

/** A recovery code as it was given out: letters keep their case. */
export const isRecoveryCode = (text: string): boolean => /^[0-9A-Za-z]{5}-[0-9A-Za-z]{5}$/.test(text)
