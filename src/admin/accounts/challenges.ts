// Passkey challenges, signed instead of stored, because unauthenticated requests must not write (threats row 35).
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/time.ts'
import { deriveKeys, isMacOf, macOf, type RotatingKeys } from './derived-key.ts'

export interface ChallengeUse {
  readonly purpose: 'sign-in' | 'confirmation' | 'registration'
  readonly userId: string | null
}

const CHALLENGE_SECONDS = 300
const EXPIRY_BYTES = 6
const NONCE_BYTES = 16
/** Size of the MAC: 192 bits, short enough for the field that returns the challenge. */
const MAC_BYTES = 24
const LENGTH = EXPIRY_BYTES + NONCE_BYTES + MAC_BYTES

export const createChallenges = (accountKeys: RotatingKeys, clock: Clock) => {
  const keys = deriveKeys(accountKeys, 'passkey challenges')
  const partsOf = ({ purpose, userId }: ChallengeUse, head: Uint8Array): string[] => [
    purpose,
    userId ?? '',
    Buffer.from(head).toString('base64url'),
  ]
  return {
    issue: (use: ChallengeUse): Uint8Array<ArrayBuffer> => {
      const head = Buffer.alloc(EXPIRY_BYTES + NONCE_BYTES)
      head.writeUIntBE(clock.unixSeconds() + CHALLENGE_SECONDS, 0, EXPIRY_BYTES)
      head.set(randomBytes(NONCE_BYTES), EXPIRY_BYTES)
      return new Uint8Array([...head, ...macOf(keys()[0], partsOf(use, head)).subarray(0, MAC_BYTES)])
    },

    /**
     * Returns null unless the challenge was issued for this use and is unexpired. Used challenges are remembered for
     * longer, because another node's clock may be behind.
     */
    check: (text: string, use: ChallengeUse): { readonly rememberUntilSeconds: number } | null => {
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length !== LENGTH || bytes.toString('base64url') !== text) return null
      const head = bytes.subarray(0, EXPIRY_BYTES + NONCE_BYTES)
      const expiresAtSeconds = head.readUIntBE(0, EXPIRY_BYTES)
      const mac = bytes.subarray(EXPIRY_BYTES + NONCE_BYTES)
      if (!keys().some((key) => isMacOf(key, partsOf(use, head), mac, MAC_BYTES))) return null
      if (expiresAtSeconds <= clock.unixSeconds()) return null
      return { rememberUntilSeconds: expiresAtSeconds + CHALLENGE_SECONDS }
    },
  }
}

export type Challenges = ReturnType<typeof createChallenges>
