// Types `uint256` and `address` of the policy language. As in Solidity, overflow and underflow fail instead of
// wrapping. Uint256 is a class, because the library treats a bigint as `int`.
import { NamedError } from '../lib/named-error.ts'

export const MAX_UINT256 = 2n ** 256n - 1n

/** Preallocated, because creating an error costs more than 100 evaluation steps. */
export class ArithmeticRangeError extends NamedError {}

const OVERFLOW = new ArithmeticRangeError('uint256 overflow')
const UNDERFLOW = new ArithmeticRangeError('uint256 below zero')
const DIVISION_BY_ZERO = new ArithmeticRangeError('uint256 division by zero')
const NEGATIVE_OPERAND = new ArithmeticRangeError('a negative int cannot be a uint256')

export class Uint256 {
  readonly value: bigint

  private constructor(value: bigint) {
    this.value = value
  }

  /** @throws ArithmeticRangeError if the value is out of range */
  static of(value: bigint): Uint256 {
    if (value < 0n) throw UNDERFLOW
    if (value > MAX_UINT256) throw OVERFLOW
    return new Uint256(value)
  }

  /** `text` must be valid: `0` or `[1-9][0-9]*`, less than 2^256. */
  static ofCanonical(text: string): Uint256 {
    return new Uint256(BigInt(text))
  }
}

export type Uint256Operand = Uint256 | bigint

const bigintOf = (operand: Uint256Operand): bigint => {
  if (typeof operand !== 'bigint') return operand.value
  if (operand < 0n) throw NEGATIVE_OPERAND
  return operand
}

/** @throws ArithmeticRangeError if the operand is negative */
export const toUint256 = (operand: Uint256Operand): Uint256 => Uint256.of(bigintOf(operand))

/** @throws ArithmeticRangeError if the result is out of range, for division by zero, or for a negative int */
export const UINT256_ARITHMETIC: Readonly<
  Record<'+' | '-' | '*' | '/' | '%', (left: Uint256Operand, right: Uint256Operand) => Uint256>
> = {
  '+': (left, right) => Uint256.of(bigintOf(left) + bigintOf(right)),
  '-': (left, right) => Uint256.of(bigintOf(left) - bigintOf(right)),
  '*': (left, right) => Uint256.of(bigintOf(left) * bigintOf(right)),
  '/': (left, right) => {
    const divisor = bigintOf(right)
    if (divisor === 0n) throw DIVISION_BY_ZERO
    return Uint256.of(bigintOf(left) / divisor)
  },
  '%': (left, right) => {
    const divisor = bigintOf(right)
    if (divisor === 0n) throw DIVISION_BY_ZERO
    return Uint256.of(bigintOf(left) % divisor)
  },
}

/** @throws ArithmeticRangeError for a negative int */
export const UINT256_COMPARISON: Readonly<
  Record<'==' | '<' | '<=' | '>' | '>=', (left: Uint256Operand, right: Uint256Operand) => boolean>
> = {
  '==': (left, right) => bigintOf(left) === bigintOf(right),
  '<': (left, right) => bigintOf(left) < bigintOf(right),
  '<=': (left, right) => bigintOf(left) <= bigintOf(right),
  '>': (left, right) => bigintOf(left) > bigintOf(right),
  '>=': (left, right) => bigintOf(left) >= bigintOf(right),
}

export const isUint256In = (value: Uint256, list: readonly Uint256Operand[]): boolean =>
  list.some((member) => UINT256_COMPARISON['=='](value, member))

export class AddressValue {
  /** Equal texts mean equal bytes (domain/address.ts). */
  readonly text: string
  constructor(canonicalText: string) {
    this.text = canonicalText
  }
}

export const isSameAddress = (left: AddressValue, right: AddressValue): boolean => left.text === right.text

export const isAddressIn = (value: AddressValue, list: readonly AddressValue[]): boolean => {
  for (const member of list) if (member.text === value.text) return true
  return false
}
