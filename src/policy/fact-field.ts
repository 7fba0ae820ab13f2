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

/** `maxLength`: UTF-16 length of a string, for the cost estimate. */
export interface FactField {
  readonly type: FactType
  readonly description: string
  readonly maxLength?: number
  /** Request field required by rules that read this fact (decisions §2). */
  readonly requires?: OptionalField
  readonly need?: FactNeed
  /** Reading may fail without a query to a source. */
  readonly mayFail?: true
  /** Returns why a compared literal can never equal this fact; null if it can. */
  readonly refuseLiteral?: (literal: string) => string | null
  /** @throws FactUnavailableError */
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

/** Default maximum length of strings and lists. */
const LENGTH_MAX = 64

/** A missing value has no type, because `!undefined` must not be true. */
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

export const intOf = (value: unknown): bigint | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null

export const timeOf = (seconds: unknown): Date | null =>
  typeof seconds === 'number' && Number.isSafeInteger(seconds) && Math.abs(seconds) <= 8_640_000_000_000
    ? new Date(seconds * 1000)
    : null
