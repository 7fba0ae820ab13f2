// Replaces literals that the library would parse in each evaluation with their values.

import { INT64_MAX, INT64_MIN } from '../../lib/int64.ts'
import { FAILURE_STEPS, type Refuse } from '../resolve.ts'
import { ArithmeticRangeError } from '../values.ts'
import { POLICY_LIMITS } from './limits.ts'
import { LiteralMalformedError, parseCountedDuration, parseDurationLiteral, parseTimestampLiteral } from './literals.ts'
import {
  childrenOf,
  constantValue,
  durationValue,
  isConstant,
  replaceByConstant,
  replaceByFunction,
  type SyntaxNode,
  timestampValue,
} from './syntax.ts'

const NEGATION_OVERFLOW = new ArithmeticRangeError('int overflow')

export const literalProblem = (literal: unknown): string | null => {
  if (typeof literal === 'boolean') return null
  if (typeof literal === 'bigint') {
    return literal > INT64_MAX ? `the number is too large for int: write uint256("${literal}")` : null
  }
  if (typeof literal === 'string') {
    const limit = POLICY_LIMITS.stringLiteralLength
    return literal.length > limit ? `a string can have at most ${limit} characters` : null
  }
  if (typeof literal === 'number') return 'the policy language does not support floating-point numbers'
  return 'the policy language does not support null, bytes and uint'
}

export const textsOf = (node: SyntaxNode): { readonly node: SyntaxNode; readonly text: string }[] => {
  if (node.op === 'list') return childrenOf(node).flatMap(textsOf)
  const value = isConstant(node) ? constantValue(node) : null
  const values = Array.isArray(value) ? value : [value]
  return values.flatMap((text) => (typeof text === 'string' ? [{ node, text }] : []))
}

const replace = (node: SyntaxNode, literal: SyntaxNode, type: string, refuse: Refuse, read: () => unknown): void => {
  try {
    replaceByConstant(node, type, read())
  } catch (error) {
    if (!(error instanceof LiteralMalformedError)) throw error
    refuse(literal, error.message)
  }
}

const READERS = {
  timestamp: {
    type: 'google.protobuf.Timestamp',
    read: (text: string): unknown => timestampValue(parseTimestampLiteral(text)),
  },
  duration: {
    type: 'google.protobuf.Duration',
    read: (text: string): unknown => durationValue(parseDurationLiteral(text)),
  },
} as const

/** Folds `timestamp("…")` and `duration("…")`, because the library's parsers are too lenient. */
export const foldTime = (node: SyntaxNode, name: keyof typeof READERS, refuse: Refuse): void => {
  const [, [only, ...others]] = node.args as [string, SyntaxNode[]]
  if (only?.op !== 'value' || typeof only.args !== 'string' || others.length > 0) {
    refuse(node, `${name}() takes one string literal`)
    return
  }
  const text = only.args
  const { type, read } = READERS[name]
  replace(node, only, type, refuse, () => read(text))
}

export const foldCountedDuration = (node: SyntaxNode, name: string, unitSeconds: number, refuse: Refuse): void => {
  const [, [only, ...others]] = node.args as [string, SyntaxNode[]]
  if (only?.op !== 'value' || typeof only.args !== 'bigint' || others.length > 0) {
    refuse(node, `${name}() takes one number literal`)
    return
  }
  const count = only.args
  const read = (): unknown => durationValue(parseCountedDuration(name, count, unitSeconds))
  replace(node, only, 'google.protobuf.Duration', refuse, read)
}

/** In the library, negating the smallest int yields a value outside the 64-bit range. */
export const replaceNegation = (node: SyntaxNode): void => {
  const operand = node.args as SyntaxNode
  if (operand.op === 'value') return
  replaceByFunction(node, operand, 'int', 'int', { steps: FAILURE_STEPS, elements: 0, chars: 0 }, (value) => {
    if (value === INT64_MIN) throw NEGATION_OVERFLOW
    return -(value as bigint)
  })
}
