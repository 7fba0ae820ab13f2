// The signing worker's side of the token thread. A slow token fails the current job, and further jobs fail immediately
// while the thread is stuck.
import { threadEntry } from '../../src/program/entries.ts'
import {
  AttesterMismatchError,
  SignerUnusableError,
  type SigningError,
  TokenUnavailableError,
  TokenUnusableError,
} from '../../src/signing/errors.ts'
import type { KeystoreReference, Secp256k1BackendName, TokenSettings, TokenSigner } from '../../src/signing/types.ts'
import {
  ANSWERED,
  createTokenMemory,
  FAILED,
  LENGTH,
  type Looked,
  type TokenFailure,
  type ToTokenThread,
  viewTokenMemory,
} from './token-protocol.ts'

export interface TokenKeysOptions {
  readonly settings: TokenSettings
  readonly signer: Secp256k1BackendName
  /** Called after each wait for the token, to show that the worker makes progress. */
  readonly progressed: () => void
}

/** Maximum wait when a worker starts. Connecting and logging in may take one to two seconds. */
const LOOK_MS = 5_000
/** Maximum wait for a key with a failed last request: an unavailable token may be slow to report this. */
const FAILING_MS = 50

const errorOf = ({ name, detail }: TokenFailure): SigningError => {
  if (name === 'AttesterMismatchError') return new AttesterMismatchError(detail)
  return name === 'TokenUnusableError' ? new TokenUnusableError(detail) : new TokenUnavailableError(detail)
}

const silence = (limitMs: number): TokenFailure => ({
  name: 'TokenUnavailableError',
  detail: `the token did not respond within ${limitMs} ms`,
})

const startThread = ({ settings, signer, progressed }: TokenKeysOptions) => {
  const worker = new Worker(threadEntry(settings.thread), { smol: true })
  const say = (message: ToTokenThread): void => worker.postMessage(message)
  const shared = createTokenMemory()
  const { words, request, answer } = viewTokenMemory(shared)
  const waiting = new Map<number, (failure: TokenFailure | null) => void>()
  let numbers = 0
  let sequence = 0
  /** Keys with a failed last request, and the key of the last request, which may have been answered too late. */
  const failing = new Set<number>()
  let asked = -1
  /** True if a lookup timed out. Later lookups then do not wait. */
  let isSilent = false
  worker.addEventListener('message', ({ data }: { readonly data: Looked }) => {
    isSilent = false
    waiting.get(data.number)?.(data.failure)
  })
  // The event's message quotes source code. Without the thread, each caller's wait ends with an error.
  worker.addEventListener('error', () => undefined)
  say({ type: 'start', settings, signer, shared })

  const look = async (number: number, { kind, keystorePath: key, address }: KeystoreReference) => {
    const { promise, resolve } = Promise.withResolvers<TokenFailure | null>()
    const limitMs = isSilent ? 0 : LOOK_MS
    const timer = setTimeout(() => {
      isSilent = true
      resolve(silence(LOOK_MS))
    }, limitMs)
    waiting.set(number, resolve)
    say({ type: 'look', number, kind, key, address })
    const failure = await promise
    clearTimeout(timer)
    waiting.delete(number)
    return failure
  }

  const sign = (number: number, bytes: Uint8Array): Uint8Array => {
    if (bytes.length !== request.length) throw new SignerUnusableError('a digest or message must be 32 bytes')
    // An earlier request is unanswered: the thread is stuck, and the shared memory is still in use.
    if (Atomics.load(words, ANSWERED) !== sequence) throw errorOf(silence(settings.answerMs))
    if (words[FAILED] === 0) failing.delete(asked)
    const limitMs = failing.has(number) ? Math.min(FAILING_MS, settings.answerMs) : settings.answerMs
    asked = number
    failing.add(number)
    const before = sequence
    sequence = (sequence + 1) | 0
    request.set(bytes)
    say({ type: 'sign', number, sequence })
    const result = Atomics.wait(words, ANSWERED, before, limitMs)
    progressed()
    if (result === 'timed-out') throw errorOf(silence(limitMs))
    const bytesAnswered = answer.slice(0, words[LENGTH])
    if (words[FAILED] === 0) {
      failing.delete(number)
      return bytesAnswered
    }
    throw errorOf(JSON.parse(Buffer.from(bytesAnswered).toString()) as TokenFailure)
  }

  return { next: () => numbers++, look, sign, end: () => worker.terminate() }
}

export const createTokenKeys = (options: TokenKeysOptions) => {
  let thread: ReturnType<typeof startThread> | null = null
  let inUse = 0
  /** Ids of attesters that were opened. An unavailable token must not block a change of keys. */
  const known = new Set<string>()

  const release = (): void => {
    inUse -= 1
    if (inUse > 0) return
    thread?.end()
    thread = null
  }

  return {
    /** @param mustAnswer true for a key that was not in use @throws TokenUnavailableError, TokenUnusableError */
    open: async (reference: KeystoreReference, mustAnswer: boolean): Promise<TokenSigner> => {
      thread ??= startThread(options)
      const { next, look, sign } = thread
      inUse += 1
      const number = next()
      const failure = await look(number, reference)
      if (failure !== null && mustAnswer && !known.has(reference.id)) {
        release()
        throw errorOf(failure)
      }
      known.add(reference.id)
      let isErased = false
      return {
        sign: (bytes) => {
          if (isErased) throw new SignerUnusableError('the key was erased')
          return sign(number, bytes)
        },
        erase: () => {
          if (isErased) return
          isErased = true
          release()
        },
      }
    },
  }
}
