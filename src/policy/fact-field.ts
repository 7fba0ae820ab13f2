// What a fact is made of: its type, what reading it asks for, and how it is read.
import type { OptionalField } from '../domain/target.ts'
import type { Evaluation } from './evaluation.ts'
import type { FactNeed } from './types.ts'

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
