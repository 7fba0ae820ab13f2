/** JSON Schema (draft 2020-12). */
export type Schema = Readonly<Record<string, unknown>>

export const text = (description: string, maxLength: number): Schema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
})
export const object = (
  description: string,
  required: readonly string[],
  properties: Readonly<Record<string, Schema>>,
): Schema => ({ type: 'object', description, required, properties, additionalProperties: false })
export const list = (description: string, items: Schema, maxItems: number): Schema => ({
  type: 'array',
  description,
  items,
  maxItems,
})
export const scalar = (description: string): Schema => ({ type: ['string', 'number', 'boolean'], description })
export const amount = (description: string): Schema => ({ type: ['string', 'number'], description })
export const duration = (description: string): Schema => ({
  type: 'string',
  pattern: '^([0-9]{1,10}[hms]){1,3}$',
  description,
})

export const flag: Schema = { type: 'boolean' }
