// A signing worker's session with the token, in a thread because calls block.

import {
  ANSWERED,
  FAILED,
  LENGTH,
  type Looked,
  type TokenFailure,
  type ToTokenThread,
  viewTokenMemory,
} from '../../../../workers/signing/token-protocol.ts'
import { errorClassOf } from '../../../lib/named-error.ts'
import { SigningError, TokenUnavailableError } from '../../../signing/errors.ts'
import { chooseSecp256k1Backend } from '../../../signing/secp256k1-backends.ts'
import type { TokenKeyReference } from '../../../signing/token-service.ts'
import { createToken, type Token } from '../token.ts'

declare const self: Worker

let token: Token | null = null
let memory: ReturnType<typeof viewTokenMemory> | null = null
const references = new Map<number, TokenKeyReference>()

const failureOf = (error: unknown): TokenFailure => {
  if (error instanceof SigningError) return { name: error.name, detail: error.detail }
  const { name, detail } = new TokenUnavailableError(`it failed (${errorClassOf(error)})`)
  return { name, detail }
}

const look = (number: number, reference: TokenKeyReference): TokenFailure | null => {
  references.set(number, reference)
  try {
    token?.look(reference)
    return null
  } catch (error) {
    return failureOf(error)
  }
}

const signatureOf = (number: number, request: Uint8Array): Uint8Array => {
  const reference = references.get(number)
  if (token === null || reference === undefined) throw new TokenUnavailableError('the key has not been looked up')
  return token.sign(reference, request)
}

const answer = (number: number, sequence: number): void => {
  if (memory === null) return
  const { words, request, answer: room } = memory
  let bytes: Uint8Array
  try {
    bytes = signatureOf(number, Uint8Array.from(request))
    words[FAILED] = 0
  } catch (error) {
    bytes = Buffer.from(JSON.stringify(failureOf(error)))
    words[FAILED] = 1
  }
  words[LENGTH] = bytes.length
  room.set(bytes.subarray(0, room.length))
  Atomics.store(words, ANSWERED, sequence)
  Atomics.notify(words, ANSWERED)
}

self.onmessage = ({ data }: { readonly data: ToTokenThread }) => {
  if (data.type === 'start') {
    const { recover } = chooseSecp256k1Backend(data.signer).backend
    memory = viewTokenMemory(data.shared)
    token = createToken(data.settings, { monotonicMs: () => performance.now(), recover })
  } else if (data.type === 'look') {
    const { number, kind, key, address } = data
    const looked: Looked = { number, failure: look(number, { kind, key, address }) }
    self.postMessage(looked)
  } else answer(data.number, data.sequence)
}
