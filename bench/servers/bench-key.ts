// Keys for benchmarks only: derived from public text, so that anyone sees they guard nothing.
import { createHash } from 'node:crypto'

/** 32 bytes; a valid secp256k1 private key and Ed25519 seed with all but certainty. */
export const benchKey = (name: string): Uint8Array =>
  new Uint8Array(createHash('sha256').update(`countersign bench key: ${name}`).digest())
