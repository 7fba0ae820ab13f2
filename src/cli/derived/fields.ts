// Maps an operation's fields to words and options of its command.
import { readFileSync } from 'node:fs'
import type { FieldOverride } from '../../admin/command-override.ts'
import type { Route } from '../../admin/route.ts'
import type { TSchema } from '../../admin/schema.ts'
import type { GivenCommand, Option, Word } from '../../command-line/command.ts'
import { parseDuration, parseMoment, parseWhole, readText } from '../../command-line/option-values.ts'
import { CommandFailedError, UsageError } from '../../command-line/output.ts'
import { isObject } from '../../lib/is-object.ts'
import { unreadableText } from '../../lib/named-error.ts'
import { isoSeconds } from '../../lib/time.ts'

export interface Field {
  readonly part: 'params' | 'query' | 'body'
  /** Path with dots for nested members: `rate_limit.burst`. */
  readonly path: string
  readonly schema: TSchema
  readonly required: boolean
  readonly isNullable: boolean
  readonly name: string
  readonly isWord: boolean
  readonly override: FieldOverride
}

/** Query members handled by the framework, or used only by approvals. */
const HANDLED = new Set(['limit', 'cursor', 'comment'])

const optionsOf = (schema: TSchema): readonly TSchema[] => (schema['anyOf'] ?? []) as readonly TSchema[]

const unwrap = (schema: TSchema): { readonly inner: TSchema; readonly isNullable: boolean } => {
  const options = optionsOf(schema)
  const others = options.filter((option) => option['type'] !== 'null')
  const isNullable = others.length < options.length
  const [only] = others
  if (!isNullable || only === undefined) return { inner: schema, isNullable }
  const inner = others.length === 1 ? only : { ...schema, anyOf: others }
  return { inner: { description: schema['description'], ...inner } as TSchema, isNullable }
}

export const choicesOf = (schema: TSchema): readonly string[] => {
  const values = optionsOf(schema).flatMap((option) => (typeof option['const'] === 'string' ? [option['const']] : []))
  return values.length === optionsOf(schema).length ? values : []
}

/** Suffixes omitted in option names. */
const SUFFIX = /_(?:seconds|days|id|at)$/

const optionName = (path: string): string => path.replace(SUFFIX, '').replaceAll(/[._]/g, '-')

const membersOf = (
  part: Field['part'],
  schema: TSchema | null,
  overrides: Readonly<Record<string, FieldOverride>>,
  prefix = '',
): readonly Field[] =>
  Object.entries((schema?.['properties'] ?? {}) as Record<string, TSchema>).flatMap(([member, declared]) => {
    if (part === 'query' && HANDLED.has(member)) return []
    const path = `${prefix}${member}`
    const { inner, isNullable } = unwrap(declared)
    const override = overrides[path] ?? {}
    const field: Field = {
      part,
      path,
      schema: inner,
      isNullable,
      required: prefix === '' && ((schema?.['required'] ?? []) as string[]).includes(member),
      name: override.word ?? override.option ?? optionName(path),
      isWord: override.word !== undefined,
      override,
    }
    if (inner['type'] !== 'object' || inner['properties'] === undefined) return [field]
    const members = membersOf(part, inner, overrides, `${path}.`)
    return isNullable ? [{ ...field, schema: { type: 'null' } as unknown as TSchema }, ...members] : members
  })

export const fieldsOf = (route: Route, overrides: Readonly<Record<string, FieldOverride>>): readonly Field[] => [
  ...[...route.path.matchAll(/\{(\w+)\}/g)].flatMap(([, path = '']): Field[] =>
    path === 'organization' && route.path !== '/organizations/{organization}'
      ? []
      : [
          {
            part: 'params',
            path,
            schema: { type: 'string' } as unknown as TSchema,
            required: true,
            isNullable: false,
            name: overrides[path]?.word ?? path.toUpperCase(),
            isWord: true,
            override: overrides[path] ?? {},
          },
        ],
  ),
  ...membersOf('body', route.body, overrides),
  ...membersOf('query', route.query, overrides),
]

const isDuration = ({ path }: Field): boolean => path.endsWith('_seconds')
const PAST = /(?:^|_)(?:since|until|before)$/
const isTime = ({ path, schema }: Field): boolean =>
  schema['type'] === 'string' && (/(?:_at|\.time)$/.test(path) || PAST.test(path) || schema['format'] === 'date-time')

const placeholderOf = (field: Field): string => {
  const { schema, path, override } = field
  if (override.file !== undefined) return 'FILE'
  const choices = choicesOf(schema)
  if (choices.length > 0) return choices.length > 4 ? 'VALUE' : choices.join('|')
  if (isDuration(field)) return 'DURATION'
  if (path.endsWith('_days')) return 'DAYS'
  if (isTime(field)) return 'TIME'
  if (schema['type'] === 'integer') return 'N'
  if (schema['type'] === 'array' && (schema['items'] as TSchema)['type'] === 'string') return 'A,B'
  if (schema['type'] !== 'string') return 'JSON'
  return optionName(path.slice(path.lastIndexOf('.') + 1)).toUpperCase()
}

const sentence = (words: string): string => words.replaceAll('`', '').replace(/\.$/, '')

/** Returns the help text for a field without a description: `policy_id` → `Policy id`. */
const nameAsHelp = ({ part, path }: Pick<Field, 'part' | 'path'>): string => {
  const words = path.replaceAll(/[._]/g, ' ').replaceAll(/\b(?:url|ip|uuid)\b/g, (word) => word.toUpperCase())
  const named = `${words.charAt(0).toUpperCase()}${words.slice(1)}`
  if (part !== 'params' || path === 'uuid') return named
  if (path === 'organization') return 'Organization slug or ID'
  return path === 'list' ? 'Name of the list' : `${named} ID`
}

const helpOf = (field: Field): string => {
  const { schema, isNullable, isWord, override } = field
  const { find } = override
  const by = find?.by.map((member) => member.replaceAll('_', ' ')).join(' or ')
  const described =
    by !== undefined
      ? `By ${by}`
      : typeof schema['description'] === 'string'
        ? sentence(isDuration(field) ? schema['description'].replace(' in seconds', '') : schema['description'])
        : nameAsHelp(field)
  const choices = choicesOf(schema)
  const listed = choices.length > (isWord ? 0 : 4) ? `. One of ${choices.join(', ')}` : ''
  const isList = schema['type'] === 'array'
  const empty = isList ? ` (none: an empty list${isNullable ? '; default: null' : ''})` : isNullable ? ' (or none)' : ''
  return `${described}${listed}${empty}`
}

export const wordOf = (field: Field): Word => ({ name: field.name, help: helpOf(field) })

export const optionOf = (field: Field): Option => {
  const { name, schema, required, override } = field
  if (schema['type'] === 'null') return { name: `no-${name}`, value: null, help: `No ${name.replaceAll('-', ' ')}` }
  const choices = choicesOf(schema)
  return {
    name,
    required,
    help: helpOf(field),
    ...(schema['type'] === 'boolean' && override.file === undefined
      ? { value: null, negatable: true as const }
      : { value: placeholderOf(field) }),
    ...(schema['type'] === 'array' && { many: true as const }),
    ...(choices.length > 0 && { choices: [...choices, ...(field.isNullable ? ['none'] : [])] }),
  }
}

export const shownName = ({ name, isWord }: Pick<Field, 'name' | 'isWord'>): string => (isWord ? name : `--${name}`)

const readFile = (path: string, as: 'text' | 'base64'): string => {
  if (as === 'text') return readText(path)
  try {
    return readFileSync(path).toString('base64')
  } catch (error) {
    throw new CommandFailedError(`${path} ${unreadableText(error)}`)
  }
}

const decodeJson = (text: string, shown: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${shown} must be JSON`)
  }
}

/** @param nowSeconds reference for a duration given instead of a time. @throws UsageError */
const decode = (field: Field, texts: readonly string[], nowSeconds: number): unknown => {
  const { schema, isNullable, path, override } = field
  const given = texts.at(-1) ?? ''
  const shown = shownName(field)
  if (schema['type'] === 'array' && (schema['items'] as TSchema)['type'] === 'string') {
    if (given === 'none') return []
    if (isNullable && given === 'default') return null
    return [...new Set(texts.flatMap((each) => each.split(',')).map((each) => each.trim()))]
  }
  if (isNullable && given === 'none') return null
  if (override.file !== undefined) return readFile(given, override.file).trim()
  if (isDuration(field)) return parseDuration(given, shown)
  if (schema['type'] === 'integer') return parseWhole(given, shown)
  if (isTime(field)) return isoSeconds(parseMoment(given, shown, nowSeconds, PAST.test(path) ? 'past' : 'future'))
  if (schema['type'] === 'string' || choicesOf(schema).length > 0) return given
  return decodeJson(given, shown)
}

/** Sets a nested member such as `rate_limit.burst`. @throws UsageError if `rate_limit` is null */
export const setMember = (input: Record<string, unknown>, path: string, value: unknown): void => {
  const [first = '', ...rest] = path.split('.')
  if (rest.length === 0) {
    input[first] = value
    return
  }
  if (input[first] === null)
    throw new UsageError(`--no-${optionName(first)} cannot be used with options that set its parts`)
  if (!isObject(input[first])) input[first] = {}
  setMember(input[first] as Record<string, unknown>, rest.join('.'), value)
}

/** Returns the values by part and path. @throws UsageError */
export const readFields = (
  fields: readonly Field[],
  command: GivenCommand,
  nowSeconds: number,
): Record<Field['part'], Record<string, unknown>> => {
  const input = { params: {}, query: {}, body: {} }
  let word = 0
  for (const field of fields) {
    const { part, path, schema, name, isWord } = field
    if (schema['type'] === 'null') {
      if (command.flag(`no-${name}`)) setMember(input[part], path, null)
    } else if (!isWord && schema['type'] === 'boolean') {
      const value = command.given(name)
      if (value !== undefined) setMember(input[part], path, value)
    } else {
      const texts = isWord ? command.words.slice(word, ++word) : command.texts(name)
      if (texts.length > 0) setMember(input[part], path, decode(field, texts, nowSeconds))
    }
  }
  return input
}
