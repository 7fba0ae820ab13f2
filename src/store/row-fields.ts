// Converts between columns (`created_at_seconds`) and fields (`createdAtSeconds`).

type ColumnOf<Field extends string> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnOf<Rest>}`
  : ''

export type FieldOf<Column extends string> = Column extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<FieldOf<Tail>>}`
  : Column

export type RowOf<Item> = { readonly [Field in keyof Item & string as ColumnOf<Field>]: Item[Field] }

type FieldsOf<Row> = { -readonly [Column in keyof Row & string as FieldOf<Column>]: Row[Column] }

/** Caches the results: there are few names and many rows. */
export const remembered = (spell: (name: string) => string): ((name: string) => string) => {
  const spelled = new Map<string, string>()
  return (name) => {
    const known = spelled.get(name) ?? spell(name)
    spelled.set(name, known)
    return known
  }
}

export const fieldNameOf = remembered((column) => column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()))
export const columnNameOf = remembered((field) => {
  // The name becomes part of a statement, so external input must be rejected.
  if (!/^[a-z][A-Za-z0-9_]*$/.test(field)) throw new TypeError('a field of an item is not a valid column name')
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
})

/** The row must contain only the columns of its type. */
export const fieldsOf = <Row extends object>(row: Row): FieldsOf<Row> =>
  Object.fromEntries(Object.entries(row).map(([column, value]) => [fieldNameOf(column), value])) as FieldsOf<Row>

/** Rows per statement: only a few sizes, so that few statements are prepared. */
const CHUNKS = [64, 16, 4, 1] as const

export const chunkRows = <Row>(rows: readonly Row[]): readonly Row[][] => {
  const chunks: Row[][] = []
  let start = 0
  for (const size of CHUNKS) {
    while (rows.length - start >= size) {
      chunks.push(rows.slice(start, start + size))
      start += size
    }
  }
  return chunks
}
