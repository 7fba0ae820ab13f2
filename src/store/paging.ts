// Reads a list in pages: never repeats a row, and never skips a row that exists throughout.
import type { SqlParameter, Statements } from './database.ts'

/** Values of the ordering columns in the last row. */
export type PagePosition = readonly (string | number)[]

export interface PageRequest {
  readonly after: PagePosition | null
  readonly limit: number
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: PagePosition | null
}

/** Maximum size of a page beyond its first row: pages are read and encoded on the main thread. */
export const PAGE_BYTES_MAX = 1_048_576

export interface PageQuery {
  readonly select: string
  readonly where: readonly string[]
  readonly parameters: readonly SqlParameter[]
  /** Result columns that together identify a row. */
  readonly order: readonly string[]
  /** Names in a result row. Defaults to the columns' names without the table. */
  readonly fields?: readonly string[]
  readonly descending?: boolean
  /** Table whose rows can be large, and their size in bytes. */
  readonly large?: { readonly table: string; readonly bytes: string }
  /** For filters without an index. Requires a `select` that ends with the table. */
  readonly steps?: PageSteps
}

/** Condition with an index that starts with the condition and ends with the order. */
interface PageSteps {
  readonly table: string
  readonly where: readonly string[]
  readonly parameters: readonly SqlParameter[]
  /** Rows of the first step. Defaults to 500. */
  readonly rows?: number
}

/** Rows of the first step, which usually fills a page, and of the longest. Other listings run between two steps. */
const STEP_ROWS = { first: 500, longest: 5_000 } as const

const comparedWith = (order: readonly string[], operator: string): string =>
  `(${order.join(', ')}) ${operator} (${order.map(() => '?').join(', ')})`

const rowsThatFit = (sizes: readonly { readonly bytes: number }[]): number => {
  let total = 0
  const over = sizes.findIndex(({ bytes }) => {
    total += bytes
    return total > PAGE_BYTES_MAX
  })
  return over === -1 ? sizes.length : Math.max(1, over)
}

/** Selects a step's rows by their index. With the filter, SQLite could use another index. */
const selectStep = (
  { order, steps: { table, where }, descending = false }: PageQuery & { readonly steps: PageSteps },
  after: PagePosition | null,
  columns: readonly string[],
): string => {
  const conditions = after === null ? where : [...where, comparedWith(order, descending ? '<' : '>')]
  return `SELECT ${columns.join(', ')} FROM ${table}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}
     ORDER BY ${order.map((column) => (descending ? `${column} DESC` : column)).join(', ')}`
}

const queryRows = async <Row, Item>(
  statements: Statements,
  query: PageQuery,
  page: PageRequest,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> => {
  const { select, order, descending = false } = query
  const where = [...query.where]
  const parameters = [...query.parameters]
  if (page.after !== null) {
    where.push(comparedWith(order, descending ? '<' : '>'))
    parameters.push(...page.after)
  }
  const direction = descending ? ' DESC' : ''
  const { query: run, queryLong = run } = statements
  const rest = `${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`}
     ORDER BY ${order.map((column) => column + direction).join(', ')} LIMIT ?`
  let { limit } = page
  let hasMore: boolean | null = null
  if (query.large !== undefined) {
    const { table, bytes } = query.large
    const sizes = await queryLong<{ bytes: number }>(`SELECT ${bytes} AS bytes FROM ${table}${rest}`, [
      ...parameters,
      limit + 1,
    ])
    limit = Math.min(limit, rowsThatFit(sizes))
    hasMore = sizes.length > limit
  }
  // Avoids reading the row after the page, which can be large.
  const rows = await queryLong<Row>(select + rest, [...parameters, hasMore === null ? limit + 1 : limit])
  const shown = rows.slice(0, limit)
  const last =
    (hasMore ?? rows.length > limit) ? (shown.at(-1) as Record<string, string | number> | undefined) : undefined
  const { fields = order.map((column) => column.slice(column.indexOf('.') + 1)) } = query
  const next = last === undefined ? null : fields.map((field) => last[field] as string)
  return { items: shown.map(toItem), next }
}

/** @throws RangeError if the position belongs to another list */
export const queryPage = async <Row, Item>(
  statements: Statements,
  query: PageQuery,
  { after, limit }: PageRequest,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> => {
  const { order, steps, descending = false } = query
  if (after !== null && after.length !== order.length) throw new RangeError('the position belongs to another list')
  if (steps === undefined) return queryRows(statements, query, { after, limit }, toItem)
  const stepped = { ...query, steps }
  const { query: run, queryLong = run } = statements
  const items: Item[] = []
  let rows = steps.rows ?? STEP_ROWS.first
  for (let from = after; ; ) {
    const given = [...steps.parameters, ...(from ?? [])]
    const keys = order.map((column, at) => `${column} AS key_${at}`)
    const [last] = await queryLong<Record<string, string | number>>(
      `${selectStep(stepped, from, keys)} LIMIT 1 OFFSET ?`,
      [...given, rows - 1],
    )
    const end = last && order.map((_, at) => last[`key_${at}`] as string | number)
    const step =
      end === undefined
        ? query
        : {
            ...query,
            // Leaves room for rows that are inserted between the two statements.
            select: `${query.select.slice(0, -steps.table.length)}(${selectStep(stepped, from, ['*'])} LIMIT ${2 * rows}) AS ${steps.table}`,
            where: [...query.where, comparedWith(order, descending ? '>=' : '<=')],
            parameters: [...given, ...query.parameters, ...end],
          }
    const found = await queryRows(statements, step, { after: from, limit: limit - items.length }, toItem)
    items.push(...found.items)
    if (found.next !== null || end === undefined) return { items, next: found.next }
    if (items.length === limit) return { items, next: end }
    from = end
    rows = Math.min(10 * rows, STEP_ROWS.longest)
  }
}
