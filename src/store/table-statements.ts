// Common statements of declared tables (table.ts), for both databases.
import {
  type Column,
  Expression,
  type NewRow,
  type Row,
  type Shape,
  type StoredField,
  type Use,
  type Values,
} from './columns.ts'
import type { TableScope } from './copy/table-scope.ts'
import type { SqlParameter, SqlValue, Statements, Transaction } from './database.ts'
import { type Page, type PageRequest, queryPage } from './paging.ts'
import { chunkRows, columnNameOf, remembered } from './row-fields.ts'
import { sweepRows } from './sweep.ts'

type Target = TableScope | Transaction
/** In a list or a page, undefined matches any value. */
export type Where<Columns extends Shape> = Values<Columns> &
  (Columns extends { readonly organizationId: Column<infer Owner, Use> } ? { readonly organizationId: Owner } : unknown)
type Order<Columns extends Shape> =
  | readonly StoredField<Columns>[]
  | {
      readonly by: readonly StoredField<Columns>[]
      readonly descending?: boolean
      readonly limit?: number
      /** Text columns that can be large, for pages of limited size. */
      readonly large?: readonly StoredField<Columns>[]
      /** Fields of an index that ends with `by`: pages with other conditions are read in steps. */
      readonly indexed?: readonly StoredField<Columns>[] | undefined
    }

const inTransaction = <Result>(target: Target, work: (transaction: Transaction) => Promise<Result>): Promise<Result> =>
  'write' in target ? target.write(work) : work(target)

export const statementsOf = <Columns extends Shape, Item, Which extends Values<Columns>>(
  name: string,
  columns: Columns,
  toItem: (row: Row<Columns>) => Item,
  ownerField: string | null,
) => {
  const stored = Object.keys(columns).filter((field) => columns[field]?.use !== 'computed')
  const read = Object.entries(columns).filter(([, { use }]) => use !== 'hidden')
  const decoders = read.flatMap(([field, { decode }]) => (decode === undefined ? [] : [[field, decode] as const]))
  const names = new Map(stored.map((field) => [field, columns[field]?.named ?? columnNameOf(field)]))
  const list = read.map(([field, { text }]) => `${text ?? `${name}.${names.get(field)}`} AS "${field}"`).join(', ')
  const select = `SELECT ${list} FROM ${name}`

  // Always the same string, so that a prepared statement is found quickly.
  const finding = remembered((where) => `${select} WHERE ${where}`)
  const inserting = remembered((into) => `INSERT INTO ${name} (${into}) VALUES (${into.replace(/\w+/g, '?')})`)
  const updating = remembered((change) => `UPDATE ${name} SET ${change}`)
  const removing = remembered((where) => `DELETE FROM ${name} WHERE ${where}`)
  const returning = remembered((statement) => `${statement} RETURNING ${list}`)

  const toItems = (rows: readonly object[]): Item[] =>
    rows.map((row) => {
      const values = row as Record<string, unknown>
      for (const [field, decode] of decoders) values[field] = decode(values[field] as SqlValue)
      return toItem(row as Row<Columns>)
    })

  const nameOf = (field: string): string => {
    const column = names.get(field)
    if (column === undefined) throw new TypeError(`${name} does not have this column`)
    return column
  }
  const encode = (field: string, value: unknown): SqlParameter => {
    const encoder = columns[field]?.encode
    return encoder === undefined ? (value as SqlParameter) : encoder(value)
  }

  const assign = (values: Values<Columns>) => {
    const parts: string[] = []
    const parameters: SqlParameter[] = []
    for (const [field, value] of Object.entries(values)) {
      if (value === undefined) continue
      const isExpression = value instanceof Expression
      parts.push(`${nameOf(field)} = ${isExpression ? value.text : '?'}`)
      if (isExpression) parameters.push(...value.parameters)
      else parameters.push(encode(field, value))
    }
    return { text: parts.join(', '), parameters }
  }

  const match = (which: Which, and: readonly (Expression | undefined)[], isFilter = false) => {
    const parts: string[] = []
    const parameters: SqlParameter[] = []
    if (ownerField !== null && (which as Record<string, unknown>)[ownerField] === undefined) {
      throw new TypeError(`a query of ${name} must specify the owner`)
    }
    for (const [field, value] of Object.entries(which)) {
      const column = nameOf(field)
      if (value === undefined) {
        if (!isFilter) throw new TypeError(`a row of ${name} cannot be found by an undefined value`)
      } else if (value === null) parts.push(`${column} IS NULL`)
      else if (value instanceof Expression) {
        parts.push(`${column} ${value.text}`)
        parameters.push(...value.parameters)
      } else {
        parts.push(`${column} = ?`)
        parameters.push(encode(field, value))
      }
    }
    for (const condition of and) {
      if (condition === undefined) continue
      parts.push(condition.text)
      parameters.push(...condition.parameters)
    }
    if (parts.length === 0 && !isFilter) throw new TypeError(`a statement on ${name} must select rows`)
    return { parts, text: parts.join(' AND '), parameters }
  }

  const change = (which: Which, values: Values<Columns>, and: readonly Expression[]) => {
    const set = assign(values)
    const { text, parameters } = match(which, and)
    return { text: updating(`${set.text} WHERE ${text}`), parameters: [...set.parameters, ...parameters] }
  }
  const insertion = (row: Values<Columns>) => {
    const given = stored.filter((field) => row[field as keyof typeof row] !== undefined)
    const parameters = given.map((field) => encode(field, row[field as keyof typeof row]))
    return { into: given.map(nameOf).join(', '), parameters }
  }

  return {
    find: async (statements: Statements, which: Which, ...and: Expression[]): Promise<Item | null> => {
      const { text, parameters } = match(which, and)
      return toItems(await statements.query<object>(finding(text), parameters))[0] ?? null
    },
    list: async (
      statements: Statements,
      which: Which,
      order: Order<Columns>,
      ...and: (Expression | undefined)[]
    ): Promise<readonly Item[]> => {
      const { text, parameters } = match(which, and, true)
      const { by, descending = false, limit } = 'by' in order ? order : { by: order }
      const columns = by.map((field) => (descending ? `${nameOf(field)} DESC` : nameOf(field)))
      const ordered = `${text === '' ? select : finding(text)} ORDER BY ${columns.join(', ')}`
      if (limit === undefined) return toItems(await statements.query<object>(ordered, parameters))
      return toItems(await statements.query<object>(`${ordered} LIMIT ?`, [...parameters, limit]))
    },
    /** @param order fields that together identify a row */
    page: (
      statements: Statements,
      which: Which,
      order: Order<Columns>,
      page: PageRequest,
      ...and: (Expression | undefined)[]
    ): Promise<Page<Item>> => {
      const { parts: where, parameters } = match(which, and, true)
      const { by: fields, descending = false, large: sized = [], indexed } = 'by' in order ? order : { by: order }
      const bytes = sized.map((field) => `COALESCE(OCTET_LENGTH(${nameOf(field)}), 0)`).join(' + ')
      const own = indexed && match(Object.fromEntries(indexed.map((field) => [field, which[field]])) as Which, [], true)
      const steps =
        own === undefined || own.parts.length === where.length
          ? {}
          : { steps: { where: own.parts, parameters: own.parameters } }
      const query = {
        columns: list,
        table: name,
        where,
        parameters,
        order: fields.map(nameOf),
        fields,
        descending,
        ...(bytes === '' ? {} : { bytes }),
        ...steps,
      }
      return queryPage<object, Item>(statements, query, page, (row) => toItems([row])[0] as Item)
    },
    count: async (statements: Statements, which: Which, ...and: Expression[]): Promise<number> => {
      const { text, parameters } = match(which, and)
      const counting = `SELECT COUNT(*) AS count FROM ${name} WHERE ${text}`
      const { query, queryLong = query } = statements
      const [row] = await queryLong<{ count: number }>(counting, parameters)
      return row?.count ?? 0
    },
    insert: async (target: Target, row: NewRow<Columns>): Promise<Item> => {
      const { into, parameters } = insertion(row as Values<Columns>)
      const statement = inserting(into)
      if (stored.length < Object.keys(columns).length) {
        const rows = await inTransaction(target, ({ query }) => query<object>(returning(statement), parameters))
        return toItems(rows)[0] as Item
      }
      await target.execute(statement, parameters)
      const values = row as Record<string, unknown>
      return toItem(Object.fromEntries(read.map(([field]) => [field, values[field] ?? null])) as Row<Columns>)
    },
    /** Returns false if the row already exists. */
    insertNew: async (target: Target, row: NewRow<Columns>): Promise<boolean> => {
      const { into, parameters } = insertion(row as Values<Columns>)
      return (await target.execute(`${inserting(into)} ON CONFLICT DO NOTHING`, parameters)) === 1
    },
    /** Updates the row with this key, or inserts it. @param fresh values for a new row only */
    put: async (target: Target, key: Which, values: Values<Columns>, fresh?: Values<Columns>): Promise<void> => {
      const { into, parameters } = insertion({ ...fresh, ...values, ...key })
      const fields = Object.keys(values).filter((field) => values[field as keyof typeof values] !== undefined)
      const set = fields.map((field) => `${nameOf(field)} = excluded.${nameOf(field)}`)
      const conflict = Object.keys(key).map(nameOf).join(', ')
      const update = set.length === 0 ? 'NOTHING' : `UPDATE SET ${set.join(', ')}`
      await target.execute(`${inserting(into)} ON CONFLICT (${conflict}) DO ${update}`, parameters)
    },
    /**
     * Like `put`, in few statements. @param key fields that identify a row @param rows with distinct keys and the same
     * fields
     */
    putAll: async (target: Target, key: readonly StoredField<Columns>[], rows: readonly NewRow<Columns>[]) => {
      for (const chunk of chunkRows(rows)) {
        const part = chunk.map((row) => insertion(row as Values<Columns>))
        const into = part[0]?.into ?? ''
        const set = into.split(', ').filter((column) => !key.some((field) => nameOf(field) === column))
        const values = `, (${into.replace(/\w+/g, '?')})`.repeat(part.length - 1)
        const conflict = key.map(nameOf).join(', ')
        const update = set.map((column) => `${column} = excluded.${column}`).join(', ')
        const statement = `${inserting(into)}${values} ON CONFLICT (${conflict}) DO UPDATE SET ${update}`
        await target.execute(
          statement,
          part.flatMap(({ parameters }) => parameters),
        )
      }
    },
    /** Does not change undefined values. Returns the updated row, if any. */
    update: async (
      target: Target,
      which: Which,
      values: Values<Columns>,
      ...and: Expression[]
    ): Promise<Item | null> => {
      const { text, parameters } = change(which, values, and)
      return toItems(await inTransaction(target, ({ query }) => query<object>(returning(text), parameters)))[0] ?? null
    },
    updateRows: async (target: Target, which: Which, values: Values<Columns>, ...and: Expression[]) => {
      const { text, parameters } = change(which, values, and)
      return toItems(await inTransaction(target, ({ query }) => query<object>(returning(text), parameters)))
    },
    updateAll: (target: Target, which: Which, values: Values<Columns>, ...and: Expression[]): Promise<number> => {
      const { text, parameters } = change(which, values, and)
      return target.execute(text, parameters)
    },
    remove: async (target: Target, which: Which, ...and: Expression[]): Promise<Item | null> => {
      const { text, parameters } = match(which, and)
      const rows = await inTransaction(target, ({ query }) => query<object>(returning(removing(text)), parameters))
      return toItems(rows)[0] ?? null
    },
    removeAll: (target: Target, which: Which, ...and: Expression[]): Promise<number> => {
      const { text, parameters } = match(which, and)
      return target.execute(removing(text), parameters)
    },
    /** Deletes a batch of rows (sweep.ts). @param key fields that identify a row */
    sweep: (scope: TableScope, key: readonly StoredField<Columns>[], { text, parameters }: Expression) =>
      scope.write((own) => sweepRows(own, name, key.map(nameOf).join(', '), text, ...parameters)),
    /** Locks the row until the transaction ends, by writing a column unchanged (row-locks.ts). */
    lock: async (target: Target, which: Which, field: StoredField<Columns>, ...and: Expression[]) => {
      const { text, parameters } = match(which, and)
      const locking = returning(updating(`${nameOf(field)} = ${nameOf(field)} WHERE ${text}`))
      return toItems(await inTransaction(target, ({ query }) => query<object>(locking, parameters)))[0] ?? null
    },
    /** Parts of handwritten statements: the list of a SELECT or RETURNING, and the conversion of its rows. */
    columns: list,
    toItems,
  }
}
