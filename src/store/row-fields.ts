// Rows and what they are decoded to have the same names, in two spellings: the column `created_at_seconds` is the field
// `createdAtSeconds`. So the type of a row follows from the type of its item.

type ColumnOf<Field extends string> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnOf<Rest>}`
  : ''

type FieldOf<Column extends string> = Column extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<FieldOf<Tail>>}`
  : Column

/** The row of an item: the same values, named as columns. */
export type RowOf<Item> = { readonly [Field in keyof Item & string as ColumnOf<Field>]: Item[Field] }

type FieldsOf<Row> = { -readonly [Column in keyof Row & string as FieldOf<Column>]: Row[Column] }

const fieldNames = new Map<string, string>()

const fieldNameOf = (column: string): string => {
  const known = fieldNames.get(column)
  if (known !== undefined) return known
  const name = column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  fieldNames.set(column, name)
  return name
}

/** The values of some columns, named as fields: for a row that has others too. */
export const pickFields = <Row extends object, Column extends keyof Row & string>(
  row: Row,
  columns: readonly Column[],
): FieldsOf<Pick<Row, Column>> => {
  const fields: Record<string, unknown> = {}
  for (const column of columns) fields[fieldNameOf(column)] = row[column]
  return fields as FieldsOf<Pick<Row, Column>>
}

/** All values of a row, named as fields: for a row that was read with the columns of its type and no others. */
export const fieldsOf = <Row extends object>(row: Row): FieldsOf<Row> =>
  pickFields(row, Object.keys(row) as (keyof Row & string)[])
