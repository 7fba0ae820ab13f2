// Checks requests against schemas. Errors contain the path of the first invalid field, never its value.
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import { FieldInvalidError, FieldMissingError } from '../domain/errors.ts'
import { isPrintable, type Static, type TObject, type TSchema } from './schema.ts'

/** Converts `/rules/0/name` to `rules[0].name`. */
const placeOf = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .reduce((place, part) => {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
      if (/^[0-9]+$/.test(name)) return `${place}[${name}]`
      return place === '' ? name : `${place}.${name}`
    }, '')
    .slice(0, 100)

const ruleOf = ({ type, schema }: ValueError): string => {
  switch (type) {
    case ValueErrorType.ObjectMinProperties:
      return 'must contain at least one change'
    case ValueErrorType.StringMinLength:
      return schema['minLength'] === 1 ? 'must not be empty' : `must have at least ${schema['minLength']} characters`
    case ValueErrorType.StringMaxLength:
      return typeof schema['rule'] === 'string' ? schema['rule'] : `must have at most ${schema['maxLength']} characters`
    case ValueErrorType.StringPattern:
      return typeof schema['rule'] === 'string' ? schema['rule'] : 'is malformed'
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.Integer:
      return `must be a whole number${'minimum' in schema && 'maximum' in schema ? ` from ${schema['minimum']} to ${schema['maximum']}` : ''}`
    case ValueErrorType.ArrayMaxItems:
      return `must have at most ${schema['maxItems']} items`
    case ValueErrorType.ArrayMinItems:
      return `must have at least ${schema['minItems']} items`
    case ValueErrorType.String:
      return 'must be a string'
    case ValueErrorType.Boolean:
      return 'must be true or false'
    case ValueErrorType.Object:
      return typeof schema['rule'] === 'string' ? schema['rule'] : 'must be an object'
    case ValueErrorType.Array:
      return 'must be a list'
    default:
      return choicesOf(schema)
  }
}

const innermost = (error: ValueError): ValueError => {
  if (error.type !== ValueErrorType.Union) return error
  const options = (error.schema['anyOf'] ?? []) as readonly TSchema[]
  const others = options.flatMap((option, index) => (option['type'] === 'null' ? [] : [index]))
  const inner = others.length === 1 ? error.errors[others[0] ?? 0]?.First() : undefined
  return inner === undefined ? error : innermost(inner)
}

const choicesOf = (schema: TSchema): string => {
  const options = (schema['anyOf'] ?? []) as readonly TSchema[]
  const values = options.flatMap((option) => ('const' in option ? [String(option['const'])] : []))
  return values.length > 0 && values.length === options.length ? `must be one of ${values.join(', ')}` : 'is invalid'
}

const unknownMember = (place: string, known: Readonly<Record<string, unknown>>): FieldInvalidError => {
  const names = Object.keys(known).join(', ')
  return new FieldInvalidError(
    place,
    names === '' ? 'must have no fields' : `has an unknown field; allowed fields are ${names}`,
  )
}

/** Checks constraints beyond JSON Schema: printable texts and exact integers. */
const checkBeyondSchema = (schema: TSchema, value: unknown, place: string): void => {
  const { properties, items, anyOf } = schema as {
    properties?: Record<string, TSchema>
    items?: TSchema
    anyOf?: TSchema[]
  }
  for (const option of anyOf ?? []) if (Value.Check(option, value)) checkBeyondSchema(option, value, place)
  if (typeof value === 'string' && schema['printable'] === true && !isPrintable(value)) {
    throw new FieldInvalidError(place, 'must be printable and must not begin or end with a space')
  }
  if (typeof value === 'number' && schema['type'] === 'integer' && !Number.isSafeInteger(value)) {
    throw new FieldInvalidError(place, 'must be a whole number of at most 9007199254740991')
  }
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    if (items === undefined) return
    for (const [index, item] of value.entries()) checkBeyondSchema(items, item, `${place}[${index}]`)
    return
  }
  for (const [name, member] of Object.entries(properties ?? {})) {
    checkBeyondSchema(member, (value as Record<string, unknown>)[name], place === '' ? name : `${place}.${name}`)
  }
}

export const checkValue = <Schema extends TSchema>(schema: Schema, value: unknown): Static<Schema> => {
  if (!Value.Check(schema, value)) {
    const first = Value.Errors(schema, value).First()
    const error = first === undefined ? undefined : innermost(first)
    const place = placeOf(error?.path ?? '')
    if (error?.type === ValueErrorType.ObjectAdditionalProperties) {
      const parent = placeOf(error.path.slice(0, error.path.lastIndexOf('/')))
      throw unknownMember(parent === '' ? 'the request' : parent, (error.schema['properties'] ?? {}) as object as never)
    }
    if (error?.type === ValueErrorType.ObjectRequiredProperty) throw new FieldMissingError(place)
    throw new FieldInvalidError(
      place === '' ? 'the request' : place,
      error === undefined ? 'is invalid' : ruleOf(error),
    )
  }
  checkBeyondSchema(schema, value, '')
  return value as Static<Schema>
}

const decodeParameter = (schema: TSchema, name: string, text: string): unknown => {
  if (schema['type'] === 'integer') {
    if (/^-?(0|[1-9][0-9]{0,15})$/.test(text)) return Number(text)
    throw new FieldInvalidError(name, 'must be a whole number')
  }
  if (schema['type'] === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true'
    throw new FieldInvalidError(name, 'must be true or false')
  }
  return text
}

/** Refuses unknown and repeated parameters instead of ignoring them. @throws FieldInvalidError, FieldMissingError */
export const decodeQuery = (schema: TObject | null, parameters: URLSearchParams): unknown => {
  const decoded: Record<string, unknown> = {}
  const known = (schema?.properties ?? {}) as Record<string, TSchema>
  for (const [name, text] of parameters) {
    const member = Object.hasOwn(known, name) ? known[name] : undefined
    if (member === undefined) throw unknownMember('the query', known)
    if (Object.hasOwn(decoded, name)) throw new FieldInvalidError(name, 'must be given only once')
    decoded[name] = decodeParameter(member, name, text)
  }
  return schema === null ? decoded : checkValue(schema, decoded)
}
