// TypeBox schemas of requests and responses: validation, JSON Schema (2020-12) and TypeScript types.
import {
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from '@sinclair/typebox'
import { hasHidden } from '../lib/hidden-characters.ts'
import { isoTime } from '../lib/time.ts'

export const closed = <Properties extends TProperties>(
  properties: Properties,
  description?: string,
): TObject<Properties> =>
  Type.Object(properties, { additionalProperties: false, ...(description === undefined ? {} : { description }) })

/** Names a schema in the documentation. @param columns printed by commands; defaults to members that aren't objects */
export const named = <Schema extends TSchema>(
  name: string,
  schema: Schema,
  columns?: readonly (keyof Static<Schema>)[],
): Schema => ({ ...schema, $id: name, ...(columns && { columns }) })

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

export const oneOf = <const Values extends readonly string[]>(values: Values, description?: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    description === undefined ? {} : { description },
  ) as unknown as TUnsafe<Values[number]>

export const time = (description?: string) =>
  Type.String({ format: 'date-time', ...(description === undefined ? {} : { description }) })

export const timeOrNull = (unixSeconds: number | null): string | null =>
  unixSeconds === null ? null : isoTime(unixSeconds)

/** Returns the schema of a name shown to other people, without hidden characters or surrounding spaces. */
export const label = (description: string) =>
  Type.String({ description, minLength: 1, maxLength: 100, printable: true })

export const isPrintable = (text: string): boolean => !hasHidden(text) && text.trim() === text

/** Returns a schema of optional members, at least one of which is required. */
export const partial = <Properties extends TProperties>(properties: Properties) => ({
  ...Type.Partial(closed(properties), { additionalProperties: false }),
  minProperties: 1 as const,
})

export const pageOf = <Schema extends TSchema>(item: Schema) =>
  closed({
    data: Type.Array(item),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Value of `cursor` for the next page; null on the last page.',
    }),
  })

export const PAGE_QUERY = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: 'Items per page. Defaults to 50.' })),
  cursor: Type.Optional(Type.String({ maxLength: 1_000, description: '`next_cursor` of the previous page.' })),
}

export type { Static, TObject, TOptional, TProperties, TSchema }
export { Type }
