import type { SqlParameter, SqlValue } from './database.ts'

/** `hidden`: can be filtered and written, but is not read. `computed`: read-only. */
export type Use = 'stored' | 'hidden' | 'computed'

export interface Column<Value, ItsUse extends Use = 'stored'> {
  readonly use: ItsUse
  /** Column name, if it is not the field's name in snake case. */
  readonly named?: string
  readonly text?: string
  encode?(value: Value): SqlParameter
  decode?(stored: SqlValue): Value
}

/** Columns by field name: the column of `createdAtSeconds` is `created_at_seconds`. */
export type Shape = Readonly<Record<string, Column<unknown, Use>>>

type ValueOf<Any> = Any extends Column<infer Value, Use> ? Value : never
type FieldsOfUse<Columns extends Shape, Which extends Use> = {
  [Field in keyof Columns]: Columns[Field] extends Column<unknown, Which> ? Field : never
}[keyof Columns]
export type StoredField<Columns extends Shape> = FieldsOfUse<Columns, 'stored' | 'hidden'> & string
type NullableField<Columns extends Shape> = {
  [Field in keyof Columns]: null extends ValueOf<Columns[Field]> ? Field : never
}[StoredField<Columns>]

export type Row<Columns extends Shape> = {
  readonly [Field in FieldsOfUse<Columns, 'stored' | 'computed'>]: ValueOf<Columns[Field]>
}
export type NewRow<Columns extends Shape> = {
  readonly [Field in Exclude<StoredField<Columns>, NullableField<Columns>>]: ValueOf<Columns[Field]>
} & { readonly [Field in NullableField<Columns>]?: ValueOf<Columns[Field]> | undefined }
/** Values, or SQL that follows the column's name: `= ?` in a SET, a comparison in a WHERE. */
export type Values<Columns extends Shape> = {
  readonly [Field in StoredField<Columns>]?: ValueOf<Columns[Field]> | Expression | undefined
}

const STORED = { use: 'stored' } as const

export const text: Column<string> = STORED
export const integer: Column<number> = STORED
export const bytes: Column<Uint8Array> = STORED
export const typed = <Value extends SqlParameter>(): Column<Value> => STORED
export const flag: Column<boolean> = { ...STORED, encode: Number, decode: (stored) => Number(stored) === 1 }
export const json = <Value>(): Column<Value> => ({
  ...STORED,
  encode: (value) => JSON.stringify(value),
  decode: (stored) => JSON.parse(String(stored)) as Value,
})
export const words = <Word extends string>(): Column<readonly Word[]> => ({
  ...STORED,
  encode: (value) => value.join(' '),
  decode: (stored) => (stored === '' ? [] : (String(stored).split(' ') as Word[])),
})

export const splitNames = (stored: string): readonly string[] => (stored === '' ? [] : stored.split(','))
export const names: Column<readonly string[]> = {
  ...STORED,
  encode: (value) => value.join(','),
  decode: (stored) => splitNames(String(stored)),
}

export const nullable = <Value>({ encode, decode }: Column<Value>): Column<Value | null> => ({
  ...STORED,
  ...(encode === undefined ? {} : { encode: (value) => (value === null ? null : encode(value)) }),
  ...(decode === undefined ? {} : { decode: (stored) => (stored === null ? null : decode(stored)) }),
})
export const hidden = <Value>(column: Column<Value>): Column<Value, 'hidden'> => ({ ...column, use: 'hidden' })
export const named = <Value>(name: string, column: Column<Value>): Column<Value> => ({ ...column, named: name })
export const computed = <Value>(column: Column<Value>, select: string): Column<Value, 'computed'> => ({
  ...column,
  use: 'computed',
  text: select,
})

type WordsOf<List extends string> = List extends `${infer First} ${infer Rest}` ? First | WordsOf<Rest> : List

/** Columns of an existing type, stored unchanged. @param lists all fields of the type, separated by spaces */
export const columnsOf =
  <Type>() =>
  <const List extends string>(
    ...lists: readonly (keyof Type extends WordsOf<List> ? (WordsOf<List> extends keyof Type ? List : never) : never)[]
  ): { readonly [Field in keyof Type]-?: Column<Type[Field]> } => {
    const fields = lists.flatMap((list) => (list as string).split(' '))
    return Object.fromEntries(fields.map((field) => [field, STORED])) as never
  }

/** Created only by `sql` and `among`: its text never contains external input. */
export class Expression {
  readonly text: string
  readonly parameters: readonly SqlParameter[]
  constructor(text: string, parameters: readonly SqlParameter[]) {
    this.text = text
    this.parameters = parameters
  }
}

/** Each interpolated value becomes a parameter. */
export const sql = (literals: TemplateStringsArray, ...values: readonly (SqlParameter | Expression)[]): Expression => {
  let written = literals[0] ?? ''
  const parameters: SqlParameter[] = []
  for (const [index, value] of values.entries()) {
    if (value instanceof Expression) {
      written += value.text
      parameters.push(...value.parameters)
    } else {
      written += '?'
      parameters.push(value)
    }
    written += literals[index + 1] ?? ''
  }
  return new Expression(written, parameters)
}

/** Each number of values creates a separate statement. */
export const among = (values: readonly SqlParameter[]): Expression =>
  new Expression(values.length === 0 ? 'IN (NULL)' : `IN (${values.map(() => '?').join(', ')})`, values)
