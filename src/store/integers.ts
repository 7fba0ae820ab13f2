import { StoreStatementError } from './errors.ts'

export const requireSafeInteger = (parameter: number, index: number): void => {
  if (!Number.isSafeInteger(parameter)) throw new StoreStatementError(`parameter ${index + 1} is not a safe integer`)
}

/** Returns a number if it can represent the integer exactly. */
export const narrowInteger = (value: bigint): number | bigint => {
  const narrowed = Number(value)
  return Number.isSafeInteger(narrowed) ? narrowed : value
}
