import { AMOUNT_UNITS, LiteralMalformedError, parseAmountLiteral, parseUint256Literal } from '../cel/literals.ts'

/** Parses `100`, `0x64`, or an amount with a unit such as `1.5 ether`. */
export const parseTestAmount = (text: string): string => {
  const [amount = '', unit, ...rest] = text.trim().split(' ')
  if (unit === undefined) return parseUint256Literal(amount).value.toString()
  if (rest.length === 0 && Object.hasOwn(AMOUNT_UNITS, unit)) return parseAmountLiteral(unit, amount).value.toString()
  throw new LiteralMalformedError(
    `an amount must be a number, or a number and one of ${Object.keys(AMOUNT_UNITS).join(', ')}`,
  )
}
