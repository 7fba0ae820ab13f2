// The API form of a record. Only members of the schema are copied.
import { type FieldOf, fieldNameOf } from '../store/row-fields.ts'
import { type Static, type TObject, timeOrNull } from './schema.ts'

type FieldFor<Name extends string> = Name extends `${string}_at` ? `${FieldOf<Name>}Seconds` : FieldOf<Name>
type ValueFor<Name extends string, Value> = Name extends `${string}_at`
  ? number | Extract<Value, null>
  : Value extends unknown[]
    ? Readonly<Value>
    : Value

/** Record with the fields of a response: `createdAtSeconds` for `created_at`. */
type RecordOf<Shape> = {
  readonly [Name in keyof Shape & string as FieldFor<Name>]: ValueFor<Name, Shape[Name]>
}

/** @param own members that are not copied from the record's field of the same name */
export const shown = <Schema extends TObject, Own extends Partial<Static<Schema>> = Record<never, never>>(
  schema: Schema,
  record: RecordOf<Omit<Static<Schema>, keyof Own>>,
  own?: Own,
): Static<Schema> => {
  const fields = record as Readonly<Record<string, unknown>>
  const given: Readonly<Record<string, unknown>> = own ?? {}
  const members: Record<string, unknown> = {}
  for (const name of Object.keys(schema.properties)) {
    const field = fieldNameOf(name)
    if (name in given) members[name] = given[name]
    else members[name] = name.endsWith('_at') ? timeOrNull(fields[`${field}Seconds`] as number | null) : fields[field]
  }
  return members as Static<Schema>
}
