// A session with the token. Calls block, and only one thread may use an instance. An error opens a new session.

import { AttesterMismatchError, SigningError, TokenUnavailableError, TokenUnusableError } from '../../signing/errors.ts'
import { parseTokenKey } from '../../signing/token-key.ts'
import type { TokenKeyReference } from '../../signing/token-service.ts'
import type { Secp256k1Backend, TokenSettings } from '../../signing/types.ts'
import { type CheckSignature, createSignatureCheck } from './checked-signature.ts'
import { CKF_SERIAL_SESSION, CKM_ECDSA, CKM_EDDSA } from './constants.ts'
import { type CryptokiModule, loadCryptokiModule } from './cryptoki-module.ts'
import { findTokenKey, type TokenKey } from './keys.ts'
import { logIn } from './login.ts'

type OpenSettings = Omit<TokenSettings, 'answerMs'>

interface TokenDependencies {
  readonly monotonicMs: () => number
  readonly recover: Secp256k1Backend['recover']
}

interface Session {
  readonly module: CryptokiModule
  readonly handle: bigint
  readonly recover: Secp256k1Backend['recover']
  readonly keys: Map<string, { readonly key: TokenKey; readonly check: CheckSignature }>
}

const LABEL_BYTES = 32
/** CK_TOKEN_INFO: label 32, manufacturer 32, model 16, serial number 16 bytes, flags, ten numbers, versions, time. */
const TOKEN_INFO_BYTES = 208
const FLAGS_AT = 96
const SIGNATURE_BYTES = 64
/** Size of the buffer: larger than a signature, in case a module writes too much. */
const SIGNATURE_ROOM = 256
/** Pause after a key's failure, so that the key doesn't slow down other keys. */
const AGAIN_MS = 1_000

const readTokenInfo = (module: CryptokiModule, slot: bigint) => {
  const info = new Uint8Array(TOKEN_INFO_BYTES)
  module.must('C_GetTokenInfo', slot, info)
  const label = new TextDecoder().decode(info.subarray(0, LABEL_BYTES)).trimEnd()
  return { label, flags: new DataView(info.buffer).getBigUint64(FLAGS_AT, true) }
}

const slotOf = (module: CryptokiModule, label: string): bigint => {
  const count = new BigUint64Array(1)
  // A call without a list makes the module detect new tokens.
  module.must('C_GetSlotList', 1, null, count)
  const slots = new BigUint64Array(Math.max(1, Number(count[0])))
  count[0] = BigInt(slots.length)
  module.must('C_GetSlotList', 1, slots, count)
  const present = [...slots.subarray(0, Number(count[0]))]
  const matching = present.filter((slot) => {
    try {
      return readTokenInfo(module, slot).label === label
    } catch (error) {
      // A token in another slot may be broken or removed.
      if (error instanceof TokenUnavailableError) return false
      throw error
    }
  })
  const [slot] = matching
  if (slot === undefined) throw new TokenUnavailableError(`no slot of ${module.path} has a token labeled ${label}`)
  if (matching.length > 1) throw new TokenUnusableError(`${matching.length} tokens are labeled ${label}`)
  return slot
}

const openSession = (settings: OpenSettings, recover: Session['recover']): Session => {
  const module = loadCryptokiModule(settings.module)
  const slot = slotOf(module, settings.token)
  const handle = new BigUint64Array(1)
  module.must('C_OpenSession', slot, CKF_SERIAL_SESSION, null, null, handle)
  const session = { module, handle: handle[0] ?? 0n, recover, keys: new Map() }
  try {
    logIn(module, session.handle, () => readTokenInfo(module, slot).flags, settings)
  } catch (error) {
    module.call('C_CloseSession', session.handle)
    throw error
  }
  return session
}

const lookIn = ({ module, handle, recover, keys }: Session, reference: TokenKeyReference) => {
  const { kind, key: uri, address } = reference
  const known = keys.get(nameOf(reference))
  if (known !== undefined && (address === null || known.key.address === address)) return known
  const name = parseTokenKey(uri)
  if (name === null) throw new TokenUnusableError(`${uri} does not name a key in a token`)
  const key = findTokenKey(module, handle, kind, name)
  if (address !== null && key.address !== address) {
    throw new AttesterMismatchError(`${uri} in the token is the key of ${key.address}, not the key of ${address}`)
  }
  const found = { key, check: createSignatureCheck(key, recover) }
  keys.set(nameOf(reference), found)
  return found
}

const signIn = (session: Session, reference: TokenKeyReference, bytes: Uint8Array): Uint8Array => {
  const { module, handle } = session
  const { key, check } = lookIn(session, reference)
  // CK_MECHANISM without a parameter: raw ECDSA of the digest, or Ed25519 (RFC 8032).
  const mechanism = BigUint64Array.of(key.kind === 'secp256k1' ? CKM_ECDSA : CKM_EDDSA, 0n, 0n)
  const signature = new Uint8Array(SIGNATURE_ROOM)
  const length = BigUint64Array.of(BigInt(signature.length))
  module.must('C_SignInit', handle, mechanism, key.handle)
  module.must('C_Sign', handle, bytes, BigInt(bytes.length), signature, length)
  if (length[0] !== BigInt(SIGNATURE_BYTES)) {
    throw new TokenUnavailableError(`the token returned a signature of ${length[0]} bytes`)
  }
  return check(signature.subarray(0, SIGNATURE_BYTES), bytes)
}

const nameOf = ({ kind, key }: TokenKeyReference): string => `${kind} ${key}`

const createPause = (monotonicMs: () => number) => {
  let failure: { readonly error: SigningError; readonly atMs: number } | null = null
  return <Result>(work: () => Result): Result => {
    if (failure !== null && monotonicMs() - failure.atMs < AGAIN_MS) throw failure.error
    try {
      const result = work()
      failure = null
      return result
    } catch (error) {
      if (error instanceof SigningError) failure = { error, atMs: monotonicMs() }
      throw error
    }
  }
}

export const createToken = (settings: OpenSettings, { monotonicMs, recover }: TokenDependencies) => {
  let session: Session | null = null
  const pauseOpening = createPause(monotonicMs)
  /** Pauses per key, so that a failing key doesn't block others. */
  const pauses = new Map<string, ReturnType<typeof createPause>>()

  const drop = (): void => {
    session?.module.call('C_CloseSession', session.handle)
    session = null
  }

  /** Retries once, in case the session was lost. */
  const attempt = <Result>(work: (session: Session) => Result): Result => {
    const isOpened = session === null
    try {
      session ??= pauseOpening(() => openSession(settings, recover))
      return work(session)
    } catch (error) {
      drop()
      if (isOpened) throw error
      return attempt(work)
    }
  }

  const run = <Result>(reference: TokenKeyReference, work: (session: Session) => Result): Result => {
    const name = nameOf(reference)
    const pause = pauses.get(name) ?? createPause(monotonicMs)
    pauses.set(name, pause)
    return pause(() => attempt(work))
  }

  return {
    /** Finds a key. @throws TokenUnusableError, AttesterMismatchError, TokenUnavailableError */
    look: (reference: TokenKeyReference): TokenKey => run(reference, (open) => lookIn(open, reference).key),
    /** Signs 32 bytes. @returns r ‖ s ‖ v with low s, or 64 bytes (Ed25519), verified @throws the errors of `look` */
    sign: (reference: TokenKeyReference, bytes: Uint8Array): Uint8Array => {
      if (bytes.length !== 32) throw new TokenUnusableError('a digest or message must be 32 bytes')
      return run(reference, (open) => signIn(open, reference, bytes))
    },
  }
}

export type Token = ReturnType<typeof createToken>
