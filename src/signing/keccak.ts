// Keccak-256 for the hot path: hash-wasm's implementation, loaded once per thread and then synchronous. Uses the
// original Keccak padding, like Ethereum, not the SHA-3 padding of FIPS 202.
import { createKeccak } from 'hash-wasm'
import type { Keccak256 } from './types.ts'

/** Compiles the WebAssembly module. The returned function must only be used on the calling thread. */
export const loadKeccak256 = async (): Promise<Keccak256> => {
  const hasher = await createKeccak(256)
  return (bytes) => hasher.init().update(bytes).digest('binary')
}
