// Logs in to the token. Tokens lock after a few wrong PINs, so a refused PIN, whose hash is stored, is never retried.
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { errorCodeOf, isMissingFile, unreadableText } from '../../lib/named-error.ts'
import { TokenUnavailableError, TokenUnusableError } from '../../signing/errors.ts'
import type { PassphraseSource } from '../../signing/passphrase.ts'
import { refusedPinFile } from '../../signing/token-service.ts'
import type { TokenSettings } from '../../signing/types.ts'
import {
  CKF_USER_PIN_FINAL_TRY,
  CKF_USER_PIN_LOCKED,
  CKR_OK,
  CKR_PIN_EXPIRED,
  CKR_PIN_INCORRECT,
  CKR_PIN_INVALID,
  CKR_PIN_LEN_RANGE,
  CKR_PIN_LOCKED,
  CKR_USER_ALREADY_LOGGED_IN,
  CKS_RO_USER_FUNCTIONS,
  CKU_USER,
  resultName,
} from './constants.ts'
import type { CryptokiModule } from './cryptoki-module.ts'

const REFUSALS: ReadonlySet<number> = new Set([
  CKR_PIN_INCORRECT,
  CKR_PIN_INVALID,
  CKR_PIN_LEN_RANGE,
  CKR_PIN_EXPIRED,
  CKR_PIN_LOCKED,
])
const SALT_BYTES = 16
const HASH_BYTES = 32
const SCRYPT_COST = { N: 2 ** 15, maxmem: 64 * 2 ** 20 }
/** Time after which a login's process counts as dead. */
const CLAIM_LIMIT_MS = 30_000
const CLAIM_RETRY_MS = 20

const readPin = (source: PassphraseSource): Buffer => {
  let text: string
  if (source.source === 'environment') text = process.env[source.name] ?? ''
  else {
    try {
      text = readFileSync(source.path, 'utf8').replace(/\r?\n$/, '')
    } catch (error) {
      throw new TokenUnusableError(`the file with the token's PIN ${unreadableText(error)}: ${source.path}`)
    }
  }
  if (text !== '') return Buffer.from(text)
  throw new TokenUnusableError(`the token's PIN is empty: ${source.source === 'file' ? source.path : source.name}`)
}

const readIfThere = (path: string): Buffer | null => {
  try {
    return readFileSync(path)
  } catch (error) {
    if (isMissingFile(error)) return null
    throw error
  }
}

const wasRefused = (path: string, pin: Uint8Array): boolean => {
  const kept = readIfThere(path)
  if (kept?.length !== SALT_BYTES + HASH_BYTES) return false
  const hash = scryptSync(pin, kept.subarray(0, SALT_BYTES), HASH_BYTES, SCRYPT_COST)
  return timingSafeEqual(hash, kept.subarray(SALT_BYTES))
}

const rememberRefused = (path: string, pin: Uint8Array): void => {
  const salt = randomBytes(SALT_BYTES)
  writeFileSync(path, Buffer.concat([salt, scryptSync(pin, salt, HASH_BYTES, SCRYPT_COST)]), { mode: 0o600 })
}

const isStale = (path: string): boolean => {
  try {
    // The clock may have been set back since the claim.
    return Math.abs(Date.now() - statSync(path).mtimeMs) > CLAIM_LIMIT_MS
  } catch (error) {
    if (isMissingFile(error)) return false
    throw error
  }
}

/** Holds the claim file during `work`. @throws TokenUnavailableError if another login doesn't finish */
const alone = (path: string, work: () => void): void => {
  const endMs = performance.now() + CLAIM_LIMIT_MS
  let descriptor: number | null = null
  while (descriptor === null) {
    try {
      descriptor = openSync(path, 'wx', 0o600)
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST') throw error
      if (isStale(path)) rmSync(path, { force: true })
      else if (performance.now() > endMs) throw new TokenUnavailableError('another login to the token did not finish')
      else Bun.sleepSync(CLAIM_RETRY_MS)
    }
  }
  try {
    writeSync(descriptor, `${process.pid}\n`)
    work()
  } finally {
    closeSync(descriptor)
    rmSync(path, { force: true })
  }
}

/** A login applies to all sessions of a process. */
const isLoggedIn = (module: CryptokiModule, session: bigint): boolean => {
  // CK_SESSION_INFO: slot, state, flags, error.
  const info = new BigUint64Array(4)
  module.must('C_GetSessionInfo', session, info)
  return info[1] === CKS_RO_USER_FUNCTIONS
}

/** @throws TokenUnusableError for a refused PIN, or if a wrong PIN would lock the token; TokenUnavailableError */
export const logIn = (
  module: CryptokiModule,
  session: bigint,
  tokenFlags: () => bigint,
  { pin: source, loginFile }: Pick<TokenSettings, 'pin' | 'loginFile'>,
): void => {
  if (isLoggedIn(module, session)) return
  const refusedFile = refusedPinFile(loginFile)
  const again = `; correct pkcs11-pin, or remove ${refusedFile} if the PIN is now correct`
  alone(`${loginFile}.claim`, () => {
    if (isLoggedIn(module, session)) return
    const pin = readPin(source)
    try {
      if (wasRefused(refusedFile, pin)) throw new TokenUnusableError(`the token has refused this PIN before${again}`)
      const flags = tokenFlags()
      if ((flags & CKF_USER_PIN_LOCKED) !== 0n) throw new TokenUnusableError('the token has locked its PIN')
      if ((flags & CKF_USER_PIN_FINAL_TRY) !== 0n) {
        throw new TokenUnusableError('one more wrong PIN would lock the token: log in with its own tool first')
      }
      const result = module.call('C_Login', session, CKU_USER, pin, BigInt(pin.length))
      if (REFUSALS.has(result)) {
        rememberRefused(refusedFile, pin)
        throw new TokenUnusableError(`the token refused the PIN (${resultName(result)})${again}`)
      }
      if (result !== CKR_OK && result !== CKR_USER_ALREADY_LOGGED_IN) {
        throw new TokenUnavailableError(`C_Login: ${resultName(result)}`)
      }
      rmSync(refusedFile, { force: true })
    } finally {
      pin.fill(0)
    }
  })
}
