// What a fact is made of: its type, what reading it asks for, and how it is read.
import type { OptionalField } from '../domain/target.ts'
import type { Evaluation } from './evaluation.ts'
import type { FactNeed } from './types/needs.ts'
import { Uint256 } from './uint256.ts'

export type FactType =
  | 'address'
  | 'uint256'
  | 'int'
  | 'bool'
  | 'string'
  | 'google.protobuf.Timestamp'
  | 'google.protobuf.Duration'

/** One fact. `maxLength` bounds a string in UTF-16 code units, for the cost estimate. */
export interface FactField {
  readonly type: FactType
  readonly description: string
  readonly maxLength?: number
  /** The request field that has to be sent when a rule reads this fact (decisions §2). */
  readonly requires?: OptionalField
  /** The source that has to be asked when a rule reads this fact. */
  readonly need?: FactNeed
  /** What is wrong with a literal that this fact is compared with, because it could never be equal; else null. */
  readonly refuseLiteral?: (literal: string) => string | null
  /** @throws FactUnavailableError when it can't be had. */
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

/** Of a text without a limit of its own, and of a list. */
const LENGTH_MAX = 64

/**
 * Whether a value that a source gave is what the language has under this type. A source that says nothing, or something
 * else than it may, has not answered: `!undefined` must not be true.
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

/** Null for what is no whole number. */
export const intOf = (value: unknown): bigint | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null

/** Unix seconds as an instant; null for what is none. */
export const timeOf = (seconds: unknown): Date | null =>
  typeof seconds === 'number' && Number.isSafeInteger(seconds) && Math.abs(seconds) <= 8_640_000_000_000
    ? new Date(seconds * 1000)
    : null
