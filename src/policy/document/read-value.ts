import { parseEvmAddress } from '../../domain/address.ts'
import type { ReadType, ReadValue } from '../types/reads.ts'
import { AddressValue, Uint256 } from '../values.ts'

const DECIMAL = /^(0|[1-9][0-9]{0,77})$/
const SIGNED = /^-?(0|[1-9][0-9]{0,18})$/
const TEXT_LENGTH_MAX = 1024

const signed = (text: string): bigint | null => {
  const value = SIGNED.test(text) ? BigInt(text) : null
  return value === null || BigInt.asIntN(64, value) !== value ? null : value
}

/** Converts the JSON value of a read to the policy language. Returns null if there is no value or its type is wrong. */
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
