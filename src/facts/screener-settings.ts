// Settings in `screeners` of the config file: how to query a screener and parse its answer.

import { REACHES, type Reach } from '../domain/list.ts'
import { isObject } from '../lib/is-object.ts'
import { NamedError } from '../lib/named-error.ts'
import { parseReachableUrl, UrlRefusedError } from './reachable.ts'

export class ScreenerSettingsError extends NamedError {}

export type SecretReference = { readonly env: string } | { readonly file: string }

/** Location of a flag in the answer (JSON Pointer, RFC 6901). */
export interface FlagMapping {
  readonly at: string
  /** Values that mean true; if null, the value must be a boolean. */
  readonly equals: readonly (string | number | boolean)[] | null
  readonly optional: boolean
}

export interface ScoreMapping {
  readonly at: string
  /** Factor for fractions, whose product is rounded to a whole number. 1 requires whole numbers. */
  readonly times: number
  readonly optional: boolean
}

export interface CategoriesMapping {
  readonly at: string
  readonly optional: boolean
}

export interface ScreenerSettings {
  readonly name: string
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly secret: SecretReference | null
  /** JSON whose strings may contain placeholders; null if there is no body. */
  readonly body: unknown
  readonly answer: {
    /** Path of the wallet address in the answer; if null, the address isn't checked. */
    readonly address: string | null
    readonly flagged: FlagMapping | null
    readonly score: ScoreMapping | null
    readonly categories: CategoriesMapping | null
  }
  readonly timeoutMs: number
  readonly cacheMs: number
  readonly reach: Reach
}

type Fields = Readonly<Record<string, unknown>>

const NAME = /^[a-z][a-z0-9_]{0,63}$/
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/
const HEADER_VALUE = /^[\t\x20-\x7e]{0,1024}$/
const PLACEHOLDER = /\$\{([^}]*)\}/g
const PLACEHOLDERS: ReadonlySet<string> = new Set(['address', 'chain', 'chain_id'])
const FORBIDDEN_HEADERS: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding', 'connection'])

const fail = (where: string, problem: string): never => {
  throw new ScreenerSettingsError(`screeners: ${where} ${problem}`)
}

const mapping = (where: string, value: unknown): Fields => (isObject(value) ? value : fail(where, 'must be a mapping'))

const refuseUnknown = (where: string, fields: Fields, known: readonly string[]): void => {
  for (const name of Object.keys(fields)) if (!known.includes(name)) fail(`${where}.${name}`, 'is not a known setting')
}

const integer = (where: string, value: unknown, minimum: number, maximum: number, otherwise: number): number => {
  if (value === undefined) return otherwise
  const valid = typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum && value <= maximum
  return valid ? (value as number) : fail(where, `must be a whole number from ${minimum} to ${maximum}`)
}

const flag = (where: string, value: unknown): boolean => {
  if (value === undefined) return false
  return typeof value === 'boolean' ? value : fail(where, 'must be true or false')
}

const checkPlaceholders = (where: string, text: string, allowed: ReadonlySet<string>): string => {
  for (const [, name = ''] of text.matchAll(PLACEHOLDER)) {
    if (!allowed.has(name))
      fail(
        where,
        `uses the unknown placeholder \${${name}}; valid placeholders: ${[...allowed].map((known) => `\${${known}}`).join(', ')}`,
      )
  }
  return text
}

const checkBody = (where: string, value: unknown): unknown => {
  if (typeof value === 'string') return checkPlaceholders(where, value, PLACEHOLDERS)
  if (Array.isArray(value)) return value.map((item, index) => checkBody(`${where}[${index}]`, item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, checkBody(`${where}.${name}`, item)]))
}

const pointer = (where: string, value: unknown): string =>
  typeof value === 'string' && /^(\/([^~]|~[01])*)?$/.test(value)
    ? value
    : fail(where, 'must be a JSON Pointer, for example /data/score')

/** Accepts a JSON Pointer, or a mapping with it as `at`. */
const place = (where: string, value: unknown, known: readonly string[]): Fields => {
  if (typeof value === 'string') return { at: pointer(where, value) }
  const fields = mapping(where, value)
  refuseUnknown(where, fields, ['at', 'optional', ...known])
  return { ...fields, at: pointer(`${where}.at`, fields['at']) }
}

const flagged = (where: string, value: unknown): FlagMapping | null => {
  if (value === undefined) return null
  const fields = place(where, value, ['equals'])
  const equals = fields['equals']
  const values: unknown[] | null = equals === undefined ? null : Array.isArray(equals) ? equals : [equals]
  if (values?.some((item) => !['string', 'number', 'boolean'].includes(typeof item))) {
    fail(`${where}.equals`, 'must contain only strings, numbers or booleans')
  }
  return {
    at: fields['at'] as string,
    equals: values as FlagMapping['equals'],
    optional: flag(`${where}.optional`, fields['optional']),
  }
}

const score = (where: string, value: unknown): ScoreMapping | null => {
  if (value === undefined) return null
  const fields = place(where, value, ['times'])
  return {
    at: fields['at'] as string,
    times: integer(`${where}.times`, fields['times'], 1, 1_000_000, 1),
    optional: flag(`${where}.optional`, fields['optional']),
  }
}

const categories = (where: string, value: unknown): CategoriesMapping | null => {
  if (value === undefined) return null
  const fields = place(where, value, [])
  return { at: fields['at'] as string, optional: flag(`${where}.optional`, fields['optional']) }
}

const secretReference = (where: string, value: unknown): SecretReference | null => {
  if (value === undefined) return null
  const fields = mapping(where, value)
  refuseUnknown(where, fields, ['env', 'file'])
  const { env, file } = fields as { env?: unknown; file?: unknown }
  if (typeof env === 'string' && env !== '' && file === undefined) return { env }
  if (typeof file === 'string' && file !== '' && env === undefined) return { file }
  return fail(where, 'must contain either env or file: the config file must not contain the secret')
}

const headersOf = (where: string, value: unknown, hasSecret: boolean): Readonly<Record<string, string>> => {
  const allowed = new Set(hasSecret ? [...PLACEHOLDERS, 'secret'] : PLACEHOLDERS)
  const headers: Record<string, string> = {}
  for (const [name, text] of Object.entries(value === undefined ? {} : mapping(where, value))) {
    const key = name.toLowerCase()
    if (!HEADER_NAME.test(name) || FORBIDDEN_HEADERS.has(key)) fail(`${where}.${name}`, 'is not a permitted header')
    if (typeof text !== 'string' || !HEADER_VALUE.test(text))
      return fail(`${where}.${name}`, 'must be a line of ASCII text')
    headers[key] = checkPlaceholders(`${where}.${name}`, text, allowed)
  }
  return headers
}

const reachOf = (where: string, value: unknown): Reach =>
  value === undefined
    ? 'public'
    : (REACHES.find((reach) => reach === value) ?? fail(where, `must be one of ${REACHES.join(', ')}`))

const urlOf = (where: string, value: unknown, reach: Reach): string => {
  if (typeof value !== 'string') return fail(where, 'must be an https URL')
  const text = checkPlaceholders(where, value, PLACEHOLDERS)
  // Placeholders contain callers' input, which must not determine the host or port.
  if (/^[^/]*\/\/[^/?#]*\$\{/.test(text)) fail(where, 'must not have a placeholder in its host')
  try {
    parseReachableUrl(text.replaceAll(PLACEHOLDER, 'x'), reach)
  } catch (error) {
    if (error instanceof UrlRefusedError) fail(where, error.detail)
    throw error
  }
  return text
}

const SETTINGS = ['url', 'method', 'headers', 'secret', 'body', 'answer', 'timeout-ms', 'cache-seconds', 'reach']

const parseScreener = (name: string, value: unknown): ScreenerSettings => {
  if (!NAME.test(name))
    fail(name, 'is not a valid name: use a lowercase letter, then at most 63 lowercase letters, digits and underscores')
  const fields = mapping(name, value)
  refuseUnknown(name, fields, SETTINGS)
  const answer = mapping(`${name}.answer`, fields['answer'])
  refuseUnknown(`${name}.answer`, answer, ['address', 'flagged', 'score', 'categories'])
  const reach = reachOf(`${name}.reach`, fields['reach'])
  const secret = secretReference(`${name}.secret`, fields['secret'])
  const method = fields['method'] ?? (fields['body'] === undefined ? 'GET' : 'POST')
  if (method !== 'GET' && method !== 'POST') return fail(`${name}.method`, 'must be GET or POST')
  if (method === 'GET' && fields['body'] !== undefined) fail(`${name}.body`, 'requires the method POST')
  const settings: ScreenerSettings = {
    name,
    url: urlOf(`${name}.url`, fields['url'], reach),
    method,
    headers: headersOf(`${name}.headers`, fields['headers'], secret !== null),
    secret,
    body: fields['body'] === undefined ? null : checkBody(`${name}.body`, fields['body']),
    answer: {
      address: answer['address'] === undefined ? null : pointer(`${name}.answer.address`, answer['address']),
      flagged: flagged(`${name}.answer.flagged`, answer['flagged']),
      score: score(`${name}.answer.score`, answer['score']),
      categories: categories(`${name}.answer.categories`, answer['categories']),
    },
    timeoutMs: integer(`${name}.timeout-ms`, fields['timeout-ms'], 50, 20_000, 3_000),
    cacheMs: integer(`${name}.cache-seconds`, fields['cache-seconds'], 0, 86_400, 60) * 1000,
    reach,
  }
  const mapped = settings.answer
  if (mapped.flagged === null && mapped.score === null && mapped.categories === null) {
    fail(`${name}.answer`, 'must map at least one of flagged, score and categories')
  }
  return settings
}

export const parseScreenerSettings = (value: unknown): ReadonlyMap<string, ScreenerSettings> => {
  const screeners = new Map<string, ScreenerSettings>()
  if (value === undefined || value === null) return screeners
  for (const [name, entry] of Object.entries(mapping('it', value))) screeners.set(name, parseScreener(name, entry))
  return screeners
}
