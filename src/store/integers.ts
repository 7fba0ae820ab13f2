// Integers as bound and read by both databases, never rounded.
import { StoreStatementError } from './errors.ts'

/** @throws StoreStatementError if the number is not a safe integer */
export const requireSafeInteger = (parameter: number, index: number): void => {
  if (!Number.isSafeInteger(parameter)) throw new StoreStatementError(`parameter ${index + 1} is not a safe integer`)
}

/** Returns the integer as a number if a number represents it exactly. */
export const narrowInteger = (value: bigint): number | bigint => {
  const narrowed = Number(value)
  return Number.isSafeInteger(narrowed) ? narrowed : value
}
