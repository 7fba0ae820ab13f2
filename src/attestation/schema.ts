// Field rules of attestation requests (spec, "Attestation request (v2)", "Task request (v1)"; decisions §2). Errors
// repeat sent values only if the spec requires it and the value passed its rule.
import { isHexBytes, isHexDigit, parseAddress, parseRepresented, type WalletAddress } from '../domain/address.ts'
import type { AttestationRequest } from '../domain/attestation.ts'
import type { Chain, ChainFamily, ChainTable } from '../domain/chain.ts'
import {
  ChainUnsupportedError,
  CountersignError,
  FieldInvalidError,
  FieldMissingError,
  fixedError,
} from '../domain/errors.ts'
import type { OptionalField } from '../domain/target.ts'
import { misspeltName, nearNames } from '../lib/edit-distance.ts'
import type { JsonObject, JsonValue } from '../server/strict-json.ts'

export interface DecodedRequest {
  readonly request: AttestationRequest
  readonly targetBy: 'address' | 'verification hash'
  /** `to` as sent, used only in the text of Errors row 1; or the verification hash. */
  readonly targetText: string
  /** Optional fields that the caller omitted; the request contains their defaults. */
  readonly missing: readonly OptionalField[]
}

/** Maximum bytes of call data (decisions §2). */
const DATA_MAX_BYTES = 65_536
/** Maximum size, as in the Solana program. */
const VERIFICATION_HASH_MAX_BYTES = 64
/** Maximum characters of a chain name in an error. */
const CHAIN_ECHO_MAX = 64

const UINT256_MAX = (2n ** 256n - 1n).toString()
const UINT64_MAX = (2n ** 64n - 1n).toString()

/** Null and empty values count as missing. @throws FieldMissingError, FieldInvalidError */
export const requireText = (field: string, value: JsonValue | undefined): string => {
  if (typeof value === 'string' && value !== '') return value
  if (value === undefined || value === null || value === '') throw new FieldMissingError(field)
  throw new FieldInvalidError(field, 'must be a string')
}

/**
 * Returns null if missing. An empty string is invalid: if it counted as missing, it would mean zero (threats row 10).
 */
export const optionalText = (field: string, value: JsonValue | undefined): string | null => {
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return value
  throw new FieldInvalidError(field, 'must be a string')
}

/**
 * Reads a field with an alternative. An empty string counts as missing, because the other field must then be present.
 */
export const alternativeText = (field: string, value: JsonValue | undefined): string | null => {
  if (typeof value === 'string') return value === '' ? null : value
  if (value === undefined || value === null) return null
  throw new FieldInvalidError(field, 'must be a string')
}

const ADDRESS_RULES: Readonly<Record<ChainFamily, string>> = {
  evm: 'must be an EVM address: 0x followed by 40 hex digits',
  solana: 'must be a Solana address: 32 bytes in base58',
}

const REPRESENTED_RULES: Readonly<Record<ChainFamily, string>> = {
  evm: 'must be 0x followed by 40 or 64 hex digits',
  solana: ADDRESS_RULES.solana,
}

/** @throws FieldInvalidError also for an address of the other family */
export const decodeAddress = (field: string, text: string, family: ChainFamily): WalletAddress => {
  const address = parseAddress(family, text)
  if (address === null) throw new FieldInvalidError(field, ADDRESS_RULES[family])
  return address
}

/** Returns an empty text if missing. An empty string is invalid: it would hide the user from lists and policy. */
export const decodeOnBehalf = (value: JsonValue | undefined, family: ChainFamily): WalletAddress | '' => {
  const text = optionalText('on_behalf', value)
  if (text === null) return ''
  const address = parseRepresented(family, text)
  if (address === null) throw new FieldInvalidError('on_behalf', REPRESENTED_RULES[family])
  return address
}

/** `0x` hex of whole bytes exactly as sent, because it is signed verbatim. @throws FieldInvalidError */
export const decodeData = (text: string): string => {
  if (text.length > 2 + 2 * DATA_MAX_BYTES)
    throw new FieldInvalidError('data', `must not exceed ${DATA_MAX_BYTES} bytes`)
  if (!isHexBytes(text)) throw new FieldInvalidError('data', 'must be 0x followed by an even number of hex digits')
  return text
}

export const isCanonicalDecimal = (text: string): boolean => {
  if (text.length === 0) return false
  if (text.charCodeAt(0) === 48) return text.length === 1
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character < 48 || character > 57) return false
  }
  return true
}

/** A longer canonical decimal is larger, and equal lengths compare as text. */
const isDecimalAtMost = (text: string, maximum: string): boolean =>
  text.length < maximum.length || (text.length === maximum.length && text <= maximum)

/** BigInt alone would accept "0x", spaces and signs. */
const decimalOfHex = (text: string): string | null => {
  if (text.length < 3 || text.length > 66) return null
  if (text.charCodeAt(0) !== 48 || text.charCodeAt(1) !== 120) return null
  for (let i = 2; i < text.length; i++) if (!isHexDigit(text.charCodeAt(i))) return null
  return BigInt(text).toString()
}

/** Returns the canonical decimal below 2^256 wei, or below 2^64 lamports. @throws FieldInvalidError */
export const decodeValue = (text: string, family: ChainFamily): string => {
  const maximum = family === 'evm' ? UINT256_MAX : UINT64_MAX
  const decimal = text.length <= UINT256_MAX.length && isCanonicalDecimal(text) ? text : decimalOfHex(text)
  if (decimal === null || !isDecimalAtMost(decimal, maximum)) {
    const bits = family === 'evm' ? 256 : 64
    throw new FieldInvalidError('msg_value', `must be a decimal string of an integer below 2^${bits}`)
  }
  return decimal
}

/** 1 to 64 visible ASCII characters. The existence of the project is checked later. @throws FieldInvalidError */
export const decodeVerificationHash = (text: string): string => {
  let valid = text.length <= VERIFICATION_HASH_MAX_BYTES
  for (let i = 0; valid && i < text.length; i++) {
    const character = text.charCodeAt(i)
    valid = character >= 0x21 && character <= 0x7e
  }
  if (!valid) {
    throw new FieldInvalidError(
      'verification_hash',
      `must be 1 to ${VERIFICATION_HASH_MAX_BYTES} visible ASCII characters`,
    )
  }
  return text
}

/** Printable ASCII only, with a limited length, for the text of Errors row 3. */
const printableChainName = (name: string): string => {
  let printable = ''
  for (let i = 0; i < name.length && printable.length < CHAIN_ECHO_MAX; i++) {
    const character = name.charCodeAt(i)
    if (character >= 0x20 && character <= 0x7e) printable += name[i]
  }
  return printable
}

/** `chain_id` is a uint64 (spec, "Task request"). */
export const isUint64 = (decimal: string): boolean => isDecimalAtMost(decimal, UINT64_MAX)

export const requireChain = (chains: ChainTable, name: string): Chain => {
  const chain = chains.byName(name)
  if (chain !== undefined) return chain
  const names = chains.chains.map((known) => known.name)
  throw new ChainUnsupportedError(printableChainName(name), nearNames(name, names))
}

/** If a misspelled field were ignored, its value would be missing from the signed data. */
class FieldMisspeltError extends CountersignError {
  constructor(sent: string, known: string) {
    super('INVALID_FIELD', `request validation failed: unknown field ${sent}; did you mean ${known}?`)
  }
}

/** Maximum number of characters in an error message: enough for every known name and one typo. */
const FIELD_ECHO_MAX = 32

/** Maximum number of fields: comparing each field with all known names takes microseconds. */
const FIELDS_MAX = 256

class FieldsTooManyError extends fixedError(
  'INVALID_FIELD',
  `request validation failed: at most ${FIELDS_MAX} fields are allowed`,
) {}

const misspelt = (sent: string, known: string): FieldMisspeltError =>
  new FieldMisspeltError(printableChainName(sent).slice(0, FIELD_ECHO_MAX), known)

/** Refuses unknown fields one edit away from a missing field with a short name. @throws FieldMisspeltError */
export const refuseMisspelt = (field: string, body: JsonObject, known: ReadonlySet<string>): void => {
  for (const name in body) if (!known.has(name) && nearNames(name, [field]).length > 0) throw misspelt(name, field)
}

/** Ignores unknown fields, except probable misspellings. @throws FieldMisspeltError, FieldsTooManyError */
export const refuseMisspeltFields = (body: JsonObject, known: ReadonlySet<string>): void => {
  let count = 0
  for (const name in body) {
    if (++count > FIELDS_MAX) throw new FieldsTooManyError()
    if (known.has(name)) continue
    const meant = misspeltName(name, known)
    if (meant !== null) throw misspelt(name, meant)
  }
}
