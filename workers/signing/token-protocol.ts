// Messages between a signing worker and its token's thread. The worker waits for a signature in shared memory. Signing
// is then one synchronous call with a time limit, even if the token's native code hangs.
import type { Secp256k1BackendName, TokenSettings } from '../../src/signing/types.ts'

export type ToTokenThread =
  | {
      readonly type: 'start'
      readonly settings: TokenSettings
      readonly signer: Secp256k1BackendName
      readonly shared: SharedArrayBuffer
    }
  /** Find the key and store it under this number. The reply is `Looked`. */
  | {
      readonly type: 'look'
      readonly number: number
      readonly kind: 'secp256k1' | 'ed25519'
      readonly key: string
      readonly address: string
    }
  /** Sign the 32 bytes in the shared memory. */
  | { readonly type: 'sign'; readonly number: number; readonly sequence: number }

export interface Looked {
  readonly number: number
  readonly failure: TokenFailure | null
}

export interface TokenFailure {
  readonly name: string
  readonly detail: string
}

/** Indexes of Int32 words: sequence number of the last answered request, failure flag, and length of the answer. */
export const ANSWERED = 0
export const FAILED = 1
export const LENGTH = 2
const WORDS = 4
const REQUEST_BYTES = 32
const ANSWER_BYTES = 2_048

export const createTokenMemory = (): SharedArrayBuffer =>
  new SharedArrayBuffer(WORDS * 4 + REQUEST_BYTES + ANSWER_BYTES)

export const viewTokenMemory = (shared: SharedArrayBuffer) => ({
  words: new Int32Array(shared, 0, WORDS),
  request: new Uint8Array(shared, WORDS * 4, REQUEST_BYTES),
  answer: new Uint8Array(shared, WORDS * 4 + REQUEST_BYTES, ANSWER_BYTES),
})
