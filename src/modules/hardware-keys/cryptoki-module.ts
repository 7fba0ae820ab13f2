// Calls a vendor's PKCS#11 module with bun:ffi. Assumes the structures of 64-bit Linux and macOS. Threads may call
// concurrently, but use each session one at a time. Source: OASIS PKCS#11 3.0, sections 3 and 5.
import { dlopen, linkSymbols, type Pointer, ptr, read } from 'bun:ffi'
import { TokenUnavailableError, TokenUnusableError } from '../../signing/errors.ts'
import { CKF_OS_LOCKING_OK, CKR_CRYPTOKI_ALREADY_INITIALIZED, CKR_OK, resultName } from './constants.ts'

const WORD_BYTES = 8

/** Index in CK_FUNCTION_LIST, which starts with a version padded to one word. */
const PLACES = {
  C_Initialize: { place: 0, args: ['ptr'] },
  C_GetSlotList: { place: 4, args: ['u8', 'ptr', 'ptr'] },
  C_GetTokenInfo: { place: 6, args: ['u64', 'ptr'] },
  C_OpenSession: { place: 12, args: ['u64', 'u64', 'ptr', 'ptr', 'ptr'] },
  C_CloseSession: { place: 13, args: ['u64'] },
  C_GetSessionInfo: { place: 15, args: ['u64', 'ptr'] },
  C_Login: { place: 18, args: ['u64', 'u64', 'ptr', 'u64'] },
  C_GetAttributeValue: { place: 24, args: ['u64', 'u64', 'ptr', 'u64'] },
  C_FindObjectsInit: { place: 26, args: ['u64', 'ptr', 'u64'] },
  C_FindObjects: { place: 27, args: ['u64', 'ptr', 'u64', 'ptr'] },
  C_FindObjectsFinal: { place: 28, args: ['u64'] },
  C_SignInit: { place: 42, args: ['u64', 'ptr', 'u64'] },
  C_Sign: { place: 43, args: ['u64', 'ptr', 'u64', 'ptr', 'ptr'] },
} as const

type CryptokiFunction = keyof typeof PLACES
type CryptokiArgument = number | bigint | NodeJS.TypedArray | null

export interface CryptokiModule {
  readonly path: string
  call(name: CryptokiFunction, ...parameters: readonly CryptokiArgument[]): number
  /** @throws TokenUnavailableError unless the result is CKR_OK */
  must(name: CryptokiFunction, ...parameters: readonly CryptokiArgument[]): void
}

/** Returns whether the platform has the expected structures. */
export const isPkcs11Supported = (platform: string, architecture: string): boolean =>
  (platform === 'linux' || platform === 'darwin') && (architecture === 'x64' || architecture === 'arm64')

const openLibrary = (path: string): Pointer => {
  let getFunctionList: (list: NodeJS.TypedArray) => unknown
  try {
    getFunctionList = dlopen(path, { C_GetFunctionList: { args: ['ptr'], returns: 'u64' } }).symbols.C_GetFunctionList
  } catch {
    throw new TokenUnusableError(`${path} can't be loaded as a PKCS#11 module`)
  }
  const list = new BigUint64Array(1)
  if (Number(getFunctionList(list)) !== CKR_OK || list[0] === 0n) {
    throw new TokenUnusableError(`${path} has no PKCS#11 functions`)
  }
  return Number(list[0]) as Pointer
}

/**
 * Initializes the module once per thread. Never finalizes it, which would end the sessions of all threads.
 * @param path absolute: for a bare name, the working directory is also searched @throws TokenUnusableError
 */
export const loadCryptokiModule = (path: string): CryptokiModule => {
  if (!isPkcs11Supported(process.platform, process.arch)) {
    throw new TokenUnusableError(`hardware keys are not supported on ${process.platform}-${process.arch}`)
  }
  const list = openLibrary(path)
  const functions = linkSymbols(
    Object.fromEntries(
      Object.entries(PLACES).map(([name, { place, args }]) => [
        name,
        { args, returns: 'u64' as const, ptr: read.ptr(list, WORD_BYTES * (place + 1)) as Pointer },
      ]),
    ),
  ).symbols as unknown as Readonly<Record<CryptokiFunction, (...parameters: readonly CryptokiArgument[]) => bigint>>
  const call: CryptokiModule['call'] = (name, ...parameters) => Number(functions[name](...parameters))

  // CK_C_INITIALIZE_ARGS: four pointers to mutex functions, flags, reserved.
  const initializeArguments = new BigUint64Array(6)
  initializeArguments[4] = CKF_OS_LOCKING_OK
  const initialized = call('C_Initialize', initializeArguments)
  if (initialized !== CKR_OK && initialized !== CKR_CRYPTOKI_ALREADY_INITIALIZED) {
    throw new TokenUnavailableError(`C_Initialize of ${path}: ${resultName(initialized)}`)
  }
  return {
    path,
    call,
    must: (name, ...parameters) => {
      const result = call(name, ...parameters)
      if (result !== CKR_OK) throw new TokenUnavailableError(`${name}: ${resultName(result)}`)
    },
  }
}

/** Returns CK_ATTRIBUTEs: type, pointer, length. Keep the values referenced while the result is used. */
export const attributeTemplate = (
  attributes: readonly (readonly [type: bigint, value: Uint8Array | BigUint64Array | null])[],
): BigUint64Array =>
  BigUint64Array.from(
    attributes.flatMap(([type, value]) =>
      value === null || value.byteLength === 0 ? [type, 0n, 0n] : [type, BigInt(ptr(value)), BigInt(value.byteLength)],
    ),
  )
