// Program-derived addresses: SHA-256 of seeds, bump, program id and marker, with the highest bump whose hash isn't an
// Ed25519 point, so that no private key exists. Source: https://solana.com/docs/core/pda.
import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'

const MARKER = 'ProgramDerivedAddress'
const BUMP_MAX = 255

/** Solana accepts encodings of y that aren't reduced modulo p, as ZIP 215 does. */
const isOnCurve = (bytes: Uint8Array): boolean => {
  try {
    ed25519.Point.fromBytes(bytes, true)
    return true
  } catch {
    return false
  }
}

/**
 * @param program base58 @param seeds at most 15, each at most 32 bytes @returns base58 @throws Error if no bump yields an
 * address, which happens for about one in 2^256 seeds
 */
export const programAddress = (program: string, seeds: readonly Uint8Array[]): string => {
  const programId = bs58.decode(program)
  for (let bump = BUMP_MAX; bump >= 0; bump -= 1) {
    const hash = createHash('sha256')
    for (const seed of seeds) hash.update(seed)
    const bytes = hash.update(Uint8Array.of(bump)).update(programId).update(MARKER).digest()
    if (!isOnCurve(bytes)) return bs58.encode(bytes)
  }
  throw new Error('no program address can be derived from these seeds')
}
