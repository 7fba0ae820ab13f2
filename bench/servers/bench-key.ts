// Keys for benchmarks only, derived from public text: they protect nothing.
import { createHash } from 'node:crypto'

/** 32 bytes, which are almost certainly a valid secp256k1 private key and an Ed25519 seed. */
export const benchKey = (name: string): Uint8Array =>
  new Uint8Array(createHash('sha256').update(`countersign bench key: ${name}`).digest())
