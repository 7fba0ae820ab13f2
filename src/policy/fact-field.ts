// The description of a fact: its type, the source or request field that it needs, and the function that reads it.
import type { OptionalField } from '../domain/target.ts'
import type { Evaluation } from './evaluate.ts'
import type { FactNeed } from './types/needs.ts'
import { Uint256 } from './values.ts'

export type FactType =
  | 'address'
  | 'uint256'
  | 'int'
  | 'bool'
  | 'string'
  | 'google.protobuf.Timestamp'
  | 'google.protobuf.Duration'

/** A fact. `maxLength` is the maximum length of a string in UTF-16 code units, for the cost estimate. */
export interface FactField {
  readonly type: FactType
  readonly description: string
  readonly maxLength?: number
  /** Request field that must be sent if a rule reads this fact (decisions §2). */
  readonly requires?: OptionalField
  /** Source that must be queried if a rule reads this fact. */
  readonly need?: FactNeed
  /** Reading the fact may fail, although no source is queried. */
  readonly mayFail?: true
  /** Checks a literal that is compared with this fact. Returns the reason why the two can never be equal, or null. */
  readonly refuseLiteral?: (literal: string) => string | null
  /** @throws FactUnavailableError if the fact is unavailable */
  readonly read: (evaluation: Evaluation) => unknown
}

export type FactGroup = Readonly<Record<string, FactField>>

export const oneOf =
  (allowed: readonly string[], message: string) =>
  (literal: string): string | null =>
    allowed.includes(literal) ? null : message

export const matching =
  (pattern: RegExp, message: string, mayBeEmpty = false) =>
  (literal: string): string | null =>
    pattern.test(literal) || (mayBeEmpty && literal === '') ? null : message

/** Default maximum length of a text and of a list. */
const LENGTH_MAX = 64

/**
 * Reports whether a source's value has the given type. A missing value or a value of another type is unavailable:
 * `!undefined` must not be true.
 */
export const isOfType = (
  { type, maxLength }: { readonly type: string; readonly maxLength?: number },
  value: unknown,
) => {
  const isText = (text: unknown): boolean => typeof text === 'string' && text.length <= (maxLength ?? LENGTH_MAX)
  switch (type) {
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
      return typeof value === 'bigint'
    case 'string':
      return isText(value)
    case 'uint256':
      return value instanceof Uint256
    case 'list<string>':
      return Array.isArray(value) && value.length <= LENGTH_MAX && value.every(isText)
    default:
      return value instanceof Date
  }
}

/** Returns null if the value is not an integer. */
export const intOf = (value: unknown): bigint | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null

/** Converts Unix seconds to a date. Returns null if the value is not a valid time. */
export const timeOf = (seconds: unknown): Date | null =>
  typeof seconds === 'number' && Number.isSafeInteger(seconds) && Math.abs(seconds) <= 8_640_000_000_000
    ? new Date(seconds * 1000)
    : null
