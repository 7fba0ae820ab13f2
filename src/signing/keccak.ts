// Keccak-256 for the hot path: hash-wasm's, loaded once per thread and synchronous from then on.
// Original Keccak padding as Ethereum uses it, not the SHA-3 of FIPS 202.
import { createKeccak } from 'hash-wasm'
import type { Keccak256 } from './types.ts'

/** Compiles the WebAssembly module; the function it resolves to belongs to the calling thread. */
export const loadKeccak256 = async (): Promise<Keccak256> => {
  const hasher = await createKeccak(256)
  return (bytes) => hasher.init().update(bytes).digest('binary')
}
