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
}

const rowsThatFit = (sizes: readonly { readonly bytes: number }[]): number => {
  let total = 0
  const over = sizes.findIndex(({ bytes }) => {
    total += bytes
    return total > PAGE_BYTES_MAX
  })
  return over === -1 ? sizes.length : Math.max(1, over)
}

/** @throws RangeError if the position belongs to another list */
export const queryPage = async <Row, Item>(
  statements: Statements,
  query: PageQuery,
  page: PageRequest,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> => {
  const { select, order, descending = false } = query
  const where = [...query.where]
  const parameters = [...query.parameters]
  if (page.after !== null) {
    if (page.after.length !== order.length) throw new RangeError('the position belongs to another list')
    where.push(`(${order.join(', ')}) ${descending ? '<' : '>'} (${order.map(() => '?').join(', ')})`)
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
