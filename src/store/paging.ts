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
  readonly columns: string
  readonly table: string
  readonly where: readonly string[]
  readonly parameters: readonly SqlParameter[]
  /** Result columns that together identify a row. */
  readonly order: readonly string[]
  /** Names in a result row. Defaults to the columns' names without the table. */
  readonly fields?: readonly string[]
  readonly descending?: boolean
  /** Size of a row in bytes, for rows that can be large. */
  readonly bytes?: string
  /** For filters without an index. */
  readonly steps?: PageSteps
}

/** Condition on the leading columns of an index whose remaining columns are the sort order. */
interface PageSteps {
  readonly where: readonly string[]
  readonly parameters: readonly SqlParameter[]
  /** Rows of the first step. Defaults to 500. */
  readonly rows?: number
}

/** Rows of the first step, which usually fills a page, and of the longest. Other listings run between two steps. */
const STEP_ROWS = { first: 500, longest: 5_000 } as const

const NO_LIMIT = '9223372036854775807'

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

interface Bounds {
  readonly after: PagePosition | null
  /** Last row of the step; null for all. */
  readonly end: PagePosition | null
}

/** Selects a step's rows by their index. With the filter, SQLite could use another index. */
const selectStep = (
  { order, table, descending = false }: PageQuery,
  { where }: PageSteps,
  { after, end }: Bounds,
  columns: string,
): string => {
  const conditions = [
    ...where,
    ...(after === null ? [] : [comparedWith(order, descending ? '<' : '>')]),
    ...(end === null ? [] : [comparedWith(order, descending ? '>=' : '<=')]),
  ]
  return `SELECT ${columns} FROM ${table}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}
     ORDER BY ${order.map((column) => (descending ? `${column} DESC` : column)).join(', ')}`
}

const queryRows = async <Row, Item>(
  statements: Statements,
  query: PageQuery,
  page: PageRequest,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> => {
  const { columns, table, order, descending = false } = query
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
  if (query.bytes !== undefined) {
    const sizes = await queryLong<{ bytes: number }>(`SELECT ${query.bytes} AS bytes FROM ${table}${rest}`, [
      ...parameters,
      limit + 1,
    ])
    limit = Math.min(limit, rowsThatFit(sizes))
    hasMore = sizes.length > limit
  }
  // Avoids reading the row after the page, which can be large.
  const rows = await queryLong<Row>(`SELECT ${columns} FROM ${table}${rest}`, [
    ...parameters,
    hasMore === null ? limit + 1 : limit,
  ])
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
  const { order, steps, table } = query
  if (after !== null && after.length !== order.length) throw new RangeError('the position belongs to another list')
  if (steps === undefined) return queryRows(statements, query, { after, limit }, toItem)
  const { query: run, queryLong = run } = statements
  const keys = order.map((column, at) => `${column} AS key_${at}`).join(', ')
  const items: Item[] = []
  let rows = steps.rows ?? STEP_ROWS.first
  for (let from = after; ; ) {
    const given = [...steps.parameters, ...(from ?? [])]
    const [last] = await queryLong<Record<string, string | number>>(
      `${selectStep(query, steps, { after: from, end: null }, keys)} LIMIT 1 OFFSET ?`,
      [...given, rows - 1],
    )
    const end = last && order.map((_, at) => last[`key_${at}`] as string | number)
    const step =
      end === undefined
        ? query
        : {
            ...query,
            // The limit only keeps SQLite from applying the filter first.
            table: `(${selectStep(query, steps, { after: from, end }, '*')} LIMIT ${NO_LIMIT}) AS ${table}`,
            parameters: [...given, ...end, ...query.parameters],
          }
    const found = await queryRows(statements, step, { after: from, limit: limit - items.length }, toItem)
    items.push(...found.items)
    if (found.next !== null || end === undefined) return { items, next: found.next }
    if (items.length === limit) return { items, next: end }
    from = end
    rows = Math.min(10 * rows, STEP_ROWS.longest)
  }
}
