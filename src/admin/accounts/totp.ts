// One-time codes: RFC 6238 with the usual parameters (SHA-1, six digits, thirty seconds). A code is accepted once
// (section 5.2), in its time step or the next, because typing takes time.
import { createHmac, timingSafeEqual } from 'node:crypto'

const TOTP_STEP_SECONDS = 30
const TOTP_DIGITS = 6
const LATE_STEPS = 1
/** Size of a secret: 160 bits (RFC 4226, section 4). */
export const TOTP_SECRET_BYTES = 20

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Encodes without padding (RFC 4648, section 6), as authenticator apps read it. */
export const toBase32 = (bytes: Uint8Array): string => {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += BASE32[(held >>> bits) & 31]
    }
    held &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + BASE32[(held << (5 - bits)) & 31]
}

export type TotpHash = 'sha1' | 'sha256' | 'sha512'

/** Returns the code of RFC 4226, section 5.3. */
export const hotp = (secret: Uint8Array, counter: number, digits = TOTP_DIGITS, hash: TotpHash = 'sha1'): string => {
  const message = Buffer.alloc(8)
  message.writeBigUInt64BE(BigInt(counter))
  const mac = createHmac(hash, secret).update(message).digest()
  const offset = mac[mac.length - 1]! & 15
  const truncated = mac.readUInt32BE(offset) & 0x7fffffff
  return String(truncated % 10 ** digits).padStart(digits, '0')
}

/** Returns the time step of RFC 6238, section 4.2. */
export const totpStep = (unixSeconds: number): number => Math.floor(unixSeconds / TOTP_STEP_SECONDS)

export const matchTotp = (
  secret: Uint8Array,
  code: string,
  unixSeconds: number,
  lastUsedStep: number,
): number | null => {
  if (!/^[0-9]{6}$/.test(code)) return null
  const now = totpStep(unixSeconds)
  let matched: number | null = null
  // Compares all steps, so that timing reveals nothing.
  for (let step = now - LATE_STEPS; step <= now; step++) {
    const same = timingSafeEqual(Buffer.from(hotp(secret, step)), Buffer.from(code))
    if (same && step > lastUsedStep) matched = step
  }
  return matched
}

/** Returns the URI in the key URI format of Google Authenticator. */
export const totpUri = (issuer: string, account: string, secret: Uint8Array): string => {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  const parameters = `secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}`
  return `otpauth://totp/${label}?${parameters}&algorithm=SHA1&digits=${TOTP_DIGITS}&period=${TOTP_STEP_SECONDS}`
}
