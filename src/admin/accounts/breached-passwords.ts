// Checks passwords against the million most leaked (NIST SP 800-63B, section 3.1.1.2), stored as sorted 4-byte prefixes
// of SHA-256 hashes by test/admin/breached/make.ts. Refuses 1 in 100,000 other passwords by mistake.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import PASSWORDS from './breached-passwords.bin' with { type: 'file' }

const BYTES = 4

export const fingerprintPassword = (password: string): number =>
  createHash('sha256').update(password.normalize('NFC').toLowerCase()).digest().readUInt32BE(0)

let known: Buffer | undefined

export const isBreachedPassword = (password: string): boolean => {
  known ??= readFileSync(PASSWORDS)
  const wanted = fingerprintPassword(password)
  let [low, high] = [0, known.length / BYTES]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (known.readUInt32BE(middle * BYTES) < wanted) low = middle + 1
    else high = middle
  }
  return low < known.length / BYTES && known.readUInt32BE(low * BYTES) === wanted
}
