// Integers as both databases bind and read them: never rounded.
import { StoreStatementError } from './errors.ts'

/** @throws StoreStatementError for a number that is not a safe integer */
export const requireSafeInteger = (parameter: number, index: number): void => {
  if (!Number.isSafeInteger(parameter)) throw new StoreStatementError(`parameter ${index + 1} is not a safe integer`)
}

/** The integer as a number where a number holds it exactly. */
export const narrowInteger = (value: bigint): number | bigint => {
  const narrowed = Number(value)
  return Number.isSafeInteger(narrowed) ? narrowed : value
}
