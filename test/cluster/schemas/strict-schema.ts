// JSON Schema for manifests: every object is closed, so that a misspelled key is an error.
import { Ajv, type ValidateFunction } from 'ajv'

export interface Schema {
  readonly [keyword: string]: unknown
}

export const TEXT: Schema = { type: 'string', minLength: 1 }
export const BOOLEAN: Schema = { type: 'boolean' }
export const COUNT: Schema = { type: 'integer', minimum: 0 }
export const TEXTS: Schema = { type: 'array', items: TEXT, minItems: 1 }

export const matching = (pattern: RegExp): Schema => ({ type: 'string', pattern: pattern.source })
export const oneOf = (...values: readonly string[]): Schema => ({ enum: values })
export const either = (...schemas: readonly Schema[]): Schema => ({ anyOf: schemas })
export const listOf = (items: Schema): Schema => ({ type: 'array', items, minItems: 1 })

/** Object whose author chooses the keys. */
export const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values })

/** Object with only the given keys. */
export const closed = (properties: Readonly<Record<string, Schema>>, ...required: readonly string[]): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true })
const validators = new WeakMap<Schema, ValidateFunction>()

/** @returns path and problem of each mistake */
export const mistakesIn = (value: unknown, schema: Schema): readonly string[] => {
  const validate = validators.get(schema) ?? ajv.compile(schema)
  validators.set(schema, validate)
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const unknownKey = params['additionalProperty']
    return unknownKey === undefined ? `${instancePath} ${message}` : `${instancePath}/${unknownKey} is not a valid key`
  })
}
