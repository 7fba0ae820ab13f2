// Named constants of a document, such as `constants.daily_limit`.

import type { PolicyConstant } from '../types/document.ts'
import { POLICY_LIMITS } from './limits.ts'
import {
  AMOUNT_UNITS,
  LiteralMalformedError,
  parseAddressLiteral,
  parseAmountLiteral,
  parseDurationLiteral,
  parseTimestampLiteral,
  parseUint256Literal,
} from './literals.ts'
import { durationValue, timestampValue } from './syntax.ts'

interface ConstantKind {
  readonly type: string
  readonly parse: (text: string) => unknown
}

const parseBool = (text: string): boolean => {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new LiteralMalformedError('a bool must be true or false')
}

const parseInt64 = (text: string): bigint => {
  const value = /^-?(0|[1-9][0-9]{0,18})$/.test(text) ? BigInt(text) : null
  if (value === null || BigInt.asIntN(64, value) !== value) {
    throw new LiteralMalformedError('an int must be a whole number of at most 64 bits in decimal digits')
  }
  return value
}

const parseText = (text: string): string => {
  const limit = POLICY_LIMITS.stringLiteralLength
  if (text.length > limit) throw new LiteralMalformedError(`a string can have at most ${limit} characters`)
  return text
}

const amounts = Object.keys(AMOUNT_UNITS).map((unit): [string, ConstantKind] => [
  unit,
  { type: 'uint256', parse: (text) => parseAmountLiteral(unit, text) },
])

/** Kinds by `type` of the constant. */
export const CONSTANT_KINDS: Readonly<Record<string, ConstantKind>> = {
  bool: { type: 'bool', parse: parseBool },
  int: { type: 'int', parse: parseInt64 },
  uint256: { type: 'uint256', parse: parseUint256Literal },
  string: { type: 'string', parse: parseText },
  address: { type: 'address', parse: parseAddressLiteral },
  duration: { type: 'google.protobuf.Duration', parse: (text) => durationValue(parseDurationLiteral(text)) },
  timestamp: { type: 'google.protobuf.Timestamp', parse: (text) => timestampValue(parseTimestampLiteral(text)) },
  ...Object.fromEntries(amounts),
}

export interface ConstantValue {
  readonly type: string
  readonly value: unknown
}

/** @throws LiteralMalformedError for an invalid constant; documents read from text have none */
export const constantValue = ({ type, values, isList }: PolicyConstant): ConstantValue => {
  const kind = CONSTANT_KINDS[type]
  if (kind === undefined) throw new LiteralMalformedError(`unknown type ${type}`)
  const parsed = values.map(kind.parse)
  return isList ? { type: `list<${kind.type}>`, value: Object.freeze(parsed) } : { type: kind.type, value: parsed[0] }
}
