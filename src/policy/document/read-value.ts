import { parseEvmAddress } from '../../domain/address.ts'
import { AMOUNT_UNITS, LiteralMalformedError, parseAmountLiteral, parseUint256Literal } from '../cel/literals.ts'
import type { ReadType, ReadValue } from '../types/reads.ts'
import { AddressValue, Uint256 } from '../values.ts'

const DECIMAL = /^(0|[1-9][0-9]{0,77})$/
const SIGNED = /^-?(0|[1-9][0-9]{0,18})$/
const TEXT_LENGTH_MAX = 1024

const signed = (text: string): bigint | null => {
  const value = SIGNED.test(text) ? BigInt(text) : null
  return value === null || BigInt.asIntN(64, value) !== value ? null : value
}

/** Converts a read's JSON value to the policy language; null if it is missing or has another type. */
export const toReadValue = (type: ReadType, value: ReadValue | null | undefined): unknown => {
  if (value === null || value === undefined) return null
  if (type === 'bool') return typeof value === 'boolean' ? value : null
  if (typeof value !== 'string') return null
  if (type === 'uint256') return DECIMAL.test(value) ? Uint256.of(BigInt(value)) : null
  if (type === 'int') return signed(value)
  if (type === 'string') return value.length <= TEXT_LENGTH_MAX ? value : null
  const address = parseEvmAddress(value)
  return address === null ? null : new AddressValue(address)
}

/** Parses `100`, `0x64`, or `1.5 ether`. */
export const parseTestAmount = (text: string): string => {
  const [amount = '', unit, ...rest] = text.trim().split(' ')
  if (unit === undefined) return parseUint256Literal(amount).value.toString()
  if (rest.length === 0 && Object.hasOwn(AMOUNT_UNITS, unit)) return parseAmountLiteral(unit, amount).value.toString()
  throw new LiteralMalformedError(
    `an amount must be a number, or a number and one of ${Object.keys(AMOUNT_UNITS).join(', ')}`,
  )
}
