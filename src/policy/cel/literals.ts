// Literals that CEL lacks or parses leniently. Malformed literals are rejected at compile time.
import { parseEvmAddress, parseSolanaAddress } from '../../domain/address.ts'
import { NamedError } from '../../lib/named-error.ts'
import { AddressValue, MAX_UINT256, Uint256 } from '../values.ts'

/** The message is for the policy's author. */
export class LiteralMalformedError extends NamedError {}

export const INTEGER_TOO_LARGE = `the number must be at most ${Number.MAX_SAFE_INTEGER}`

export const parseTestInteger = (text: string): number => {
  const integer = Number(parseUint256Literal(text).value)
  if (Number.isSafeInteger(integer)) return integer
  throw new LiteralMalformedError(INTEGER_TOO_LARGE)
}

/** @throws LiteralMalformedError with `rule` for other texts */
export const matchingText =
  (pattern: RegExp, rule: string) =>
  (text: string): string => {
    if (pattern.test(text)) return text
    throw new LiteralMalformedError(rule)
  }

const isDigits = (text: string): boolean => /^[0-9]+$/.test(text)

/** Base58 is case-sensitive; hex isn't. */
export const parseAddressLiteral = (text: string): AddressValue => {
  const address = parseEvmAddress(text) ?? parseSolanaAddress(text)
  if (address === null) {
    throw new LiteralMalformedError(
      'an address must be 0x followed by 40 hex digits (EVM), or 32 bytes in base58 (Solana)',
    )
  }
  return new AddressValue(address)
}

const withinRange = (value: bigint): Uint256 => {
  if (value > MAX_UINT256) throw new LiteralMalformedError('the number is too large for uint256')
  return Uint256.of(value)
}

/** Parses `0`, a decimal number without leading zeros, or `0x` and at most 64 hex digits. */
export const parseUint256Literal = (literal: string | bigint): Uint256 => {
  if (typeof literal === 'bigint') return withinRange(literal)
  const isHex = /^0x[0-9a-fA-F]{1,64}$/.test(literal)
  const isDecimal = isDigits(literal) && literal.length <= 78 && (literal === '0' || literal[0] !== '0')
  if (!isHex && !isDecimal) {
    throw new LiteralMalformedError(
      'a uint256 must be a whole number in decimal digits or 0x hex, without a sign or separators',
    )
  }
  return withinRange(BigInt(literal))
}

/** Decimals per unit, relative to the chain's smallest unit (wei or lamports). */
export const AMOUNT_UNITS: Readonly<Record<string, number>> = { ether: 18, gwei: 9, sol: 9, lamports: 0 }

/** Parses an integer or a decimal text, such as `ether("0.25")`, to the chain's smallest unit. */
export const parseAmountLiteral = (unit: string, literal: string | bigint): Uint256 => {
  const decimals = AMOUNT_UNITS[unit]!
  const [whole = '', fraction = '', ...rest] = String(literal).split('.')
  const isWritten = isDigits(whole) && rest.length === 0 && (String(literal).includes('.') ? isDigits(fraction) : true)
  if (!isWritten || whole.length > 78) {
    throw new LiteralMalformedError(`${unit}() takes a decimal number, for example ${unit}("1${decimals ? '.5' : ''}")`)
  }
  if (fraction.length > decimals) throw new LiteralMalformedError(`${unit}() takes at most ${decimals} decimals`)
  return withinRange(BigInt(whole) * 10n ** BigInt(decimals) + BigInt(fraction.padEnd(decimals, '0') || '0'))
}

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:Z|[+-](\d{2}):(\d{2}))$/

/** Parses an RFC 3339 time with a time zone to Unix seconds. The library would accept anything that Date accepts. */
export const parseTimestampLiteral = (text: string): number => {
  const match = TIMESTAMP.exec(text)
  const milliseconds = match === null ? Number.NaN : Date.parse(text)
  const days = match === null ? 0 : new Date(Date.UTC(Number(match[1]), Number(match[2]), 0)).getUTCDate()
  const isReal = match !== null && Number(match[3]) >= 1 && Number(match[3]) <= days && Number(match[4]) < 24
  if (!isReal || Number.isNaN(milliseconds)) {
    throw new LiteralMalformedError(
      'a timestamp must be in RFC 3339 format in whole seconds, for example "2026-01-31T00:00:00Z"',
    )
  }
  return milliseconds / 1000
}

const SECONDS_PER_UNIT: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 }
/** Maximum duration: a century, so that any sum of durations in an expression is a valid date. */
const MAX_DURATION_SECONDS = 36_525 * 86_400

/** Parses `36h` or `1h30m` to seconds. Excludes fractions, which the library computes incorrectly, and signs. */
export const parseDurationLiteral = (text: string): number => {
  let seconds = 0
  const isWritten = /^(?:\d{1,10}[hms]){1,3}$/.test(text)
  for (const [, count, unit] of text.matchAll(/(\d{1,10})([hms])/g)) seconds += Number(count) * SECONDS_PER_UNIT[unit!]!
  if (!isWritten || seconds > MAX_DURATION_SECONDS) {
    throw new LiteralMalformedError(
      'a duration must be whole hours, minutes and seconds of at most a century, for example "36h"',
    )
  }
  return seconds
}

/** @returns the duration in seconds */
export const parseCountedDuration = (name: string, count: bigint, unitSeconds: number): number => {
  const most = Math.floor(MAX_DURATION_SECONDS / unitSeconds)
  if (count < 0n || count > BigInt(most)) throw new LiteralMalformedError(`${name}() takes a number from 0 to ${most}`)
  return Number(count) * unitSeconds
}
