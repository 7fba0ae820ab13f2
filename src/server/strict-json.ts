// Strict JSON (RFC 8259 within I-JSON, RFC 7493): refuses texts that two readers could interpret differently. A linear
// scan counts the members; if the parsed value has fewer, a key is duplicated. Takes about as long as JSON.parse alone.
import { CountersignError, fixedError } from '../domain/errors.ts'
import { isObject } from '../lib/is-object.ts'

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined
}

export const isJsonObject = (value: JsonValue | undefined): value is JsonObject => isObject(value)

/** Maximum nesting of arrays and objects (decisions §1). */
export const JSON_DEPTH_MAX = 16

/** Maximum members and further elements of a document: more than the largest batch has. */
const JSON_VALUES_MAX = 32_768
/** Maximum escape sequences, each as expensive as twenty characters. Enough for names and comments in any script. */
const JSON_ESCAPES_MAX = 4_096

const QUOTE = 34
const COMMA = 44
const COLON = 58
const BACKSLASH = 92
const BRACKET_OPEN = 91
const BRACKET_CLOSE = 93
const BRACE_OPEN = 123
const BRACE_CLOSE = 125

/** The text isn't JSON, or isn't well-formed Unicode. Repeats neither the text nor the parser's message. */
export class JsonMalformedError extends CountersignError {
  constructor(cause?: unknown) {
    super('MALFORMED_JSON', 'the request body is not valid JSON', { cause })
  }
}

class JsonKeyDuplicateError extends fixedError('DUPLICATE_KEY', 'the request body has a duplicate key') {}

class JsonTooDeepError extends fixedError(
  'JSON_TOO_DEEP',
  `the request body is nested more than ${JSON_DEPTH_MAX} levels deep`,
) {}

/** The root is not an object, a key is `__proto__`, or there are too many values. */
class JsonShapeError extends CountersignError {
  constructor(detail: string) {
    super('INVALID_REQUEST', detail)
  }
}

/**
 * Returns the index of the closing quote of the string that starts before `start`; the text's length if there is none.
 */
const endOfEscapedString = (text: string, start: number): number => {
  let i = start
  for (; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character === QUOTE) return i
    if (character === BACKSLASH) i++
  }
  return text.length
}

const requireFewEscapes = (text: string, firstEscape: number, maximum: number): void => {
  let count = 0
  // The character after a backslash belongs to the same sequence.
  for (let at = firstEscape; at !== -1; at = text.indexOf('\\', at + 2)) {
    if (++count > maximum) throw new JsonShapeError(`the request body has more than ${maximum} escape sequences`)
  }
}

/** Counts members by their colons. Runs before the parser, whose stack deep nesting could exhaust. */
const countMembersWritten = (text: string, firstEscape: number): number => {
  let members = 0
  let commas = 0
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character === QUOTE) {
      // A native search skips long strings. Only strings after the first backslash need a scan.
      const end = text.indexOf('"', i + 1)
      if (end === -1) break
      i = firstEscape === -1 || end < firstEscape ? end : endOfEscapedString(text, i + 1)
    } else if (character === COLON) {
      members++
    } else if (character === COMMA) {
      commas++
    } else if (character === BRACE_OPEN || character === BRACKET_OPEN) {
      if (++depth > JSON_DEPTH_MAX) throw new JsonTooDeepError()
    } else if (character === BRACE_CLOSE || character === BRACKET_CLOSE) {
      depth--
    }
  }
  if (members + commas > JSON_VALUES_MAX) {
    throw new JsonShapeError(`the request body has more than ${JSON_VALUES_MAX} values`)
  }
  return members
}

const countMembersParsed = (value: object): number => {
  let members = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null) members += countMembersParsed(item)
    return members
  }
  for (const key in value) {
    if (key === '__proto__') throw new JsonShapeError('the request body has a key that is not allowed')
    members++
    const item = (value as Record<string, unknown>)[key]
    if (typeof item === 'object' && item !== null) members += countMembersParsed(item)
  }
  return members
}

/** Lone surrogates, which only an escape can produce, have no UTF-8 form: components would treat them differently. */
const checkWellFormed = (value: unknown): void => {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new JsonMalformedError()
  } else if (Array.isArray(value)) {
    for (const item of value) checkWellFormed(item)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      if (!key.isWellFormed()) throw new JsonMalformedError()
      checkWellFormed(item)
    }
  }
}

/**
 * Like JSON.parse, but refuses duplicate keys (compared after decoding), a byte order mark, lone surrogates,
 * `__proto__` as a key, and nesting beyond 16 levels. Numbers are rounded beyond 2^53 and Infinity beyond 1.8e308.
 * @throws JsonMalformedError, JsonKeyDuplicateError, JsonTooDeepError, JsonShapeError
 */
export const parseStrictJson = (text: string, escapesMax = JSON_ESCAPES_MAX): JsonValue => {
  const firstEscape = text.indexOf('\\')
  requireFewEscapes(text, firstEscape, escapesMax)
  const written = countMembersWritten(text, firstEscape)
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new JsonMalformedError(error)
  }
  const parsed = typeof value === 'object' && value !== null ? countMembersParsed(value) : 0
  if (parsed !== written) throw new JsonKeyDuplicateError()
  if (firstEscape !== -1) checkWellFormed(value)
  return value
}

export const parseStrictJsonObject = (text: string, escapesMax = JSON_ESCAPES_MAX): JsonObject => {
  const value = parseStrictJson(text, escapesMax)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new JsonShapeError('the request body must be a JSON object')
  }
  return value as JsonObject
}
