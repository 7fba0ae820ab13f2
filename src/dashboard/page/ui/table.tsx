// Dense on a desktop, one block per row on a phone. `j` and `k` move between rows; Enter opens a row's link.
import type { ComponentChildren } from 'preact'
import type { Pages } from '../data/use-pages.ts'
import { Button } from './button.tsx'
import { Badge, Loading } from './parts.tsx'
import { Problem, type Tone } from './problem.tsx'
import { Time } from './time.tsx'

interface Column<Row> {
  readonly cell: (row: Row) => ComponentChildren
  readonly align?: 'end'
  readonly narrow?: boolean
  readonly wide?: boolean
}

/** Columns by heading, which labels the value on a phone; empty for a column of actions. */
export type Columns<Row> = Readonly<Record<string, Column<Row> | Column<Row>['cell']>>

const ACTIONS: Pick<Column<never>, 'align' | 'narrow'> = { align: 'end', narrow: true }

/** Each cell shows the first of the fields that has a time. */
export const time = <Key extends string>(...fields: readonly Key[]): Column<Readonly<Record<Key, string | null>>> => ({
  narrow: true,
  cell: (row) => <Time at={fields.map((field) => row[field]).find((at) => at !== null) ?? null} />,
})

export const badge = <Row,>(of: (row: Row) => readonly [Tone | 'plain', string]): Column<Row> => ({
  narrow: true,
  cell: (row) => {
    const [tone, text] = of(row)
    return <Badge tone={tone}>{text}</Badge>
  },
})

export const named = (name: ComponentChildren, details: ComponentChildren) => (
  <span class="cell-stack">
    <strong>{name}</strong>
    <span class="faint">{details}</span>
  </span>
)

interface TableProps<Row> {
  readonly caption: string
  readonly columns: Columns<Row>
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly href?: (row: Row) => string | null
  /** Returns whether a row is inactive, such as revoked or disabled. */
  readonly dimmed?: (row: Row) => boolean
}

export const Table = <Row,>({ caption, columns: described, rows, rowKey, href, dimmed }: TableProps<Row>) => {
  const columns = Object.entries(described).map(([label, column]) => ({
    label,
    ...(label === '' ? ACTIONS : {}),
    ...(typeof column === 'function' ? { cell: column } : column),
  }))
  return (
    <table class="table">
      <caption class="sr-only">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ label, align, narrow, wide }, index) => (
            <th key={label === '' ? index : label} scope="col" class={cellClass(align, narrow, wide)}>
              {label === '' ? <span class="sr-only">Actions</span> : label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)} class={dimmed?.(row) === true ? 'row-dimmed' : undefined}>
            {columns.map(({ label, cell, align, narrow, wide }, index) => (
              <td key={label === '' ? index : label} data-label={label} class={cellClass(align, narrow, wide)}>
                <div class="cell">{linked(href?.(row) ?? null, index === 0, cell(row))}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Links the first cell; for pointer users, the other cells link to the same page. */
const linked = (href: string | null, first: boolean, content: ComponentChildren): ComponentChildren => {
  if (href === null) return content
  if (!first) {
    return (
      <>
        {/* biome-ignore lint/a11y/useAnchorContent: the first cell has the same link for keyboard and screen reader users */}
        <a class="cell-link" href={href} tabIndex={-1} aria-hidden="true" />
        {content}
      </>
    )
  }
  return (
    <a class="row-link" data-row href={href}>
      {content}
    </a>
  )
}

const cellClass = (align?: 'end', narrow = false, wide = false): string | undefined =>
  [align === 'end' ? 'cell-end' : '', narrow ? 'cell-narrow' : '', wide ? 'cell-wide' : ''].filter(Boolean).join(' ') ||
  undefined

interface PagedTableProps<Row> extends Omit<TableProps<Row>, 'rows'> {
  readonly pages: Pages<Row>
  readonly empty: ComponentChildren
}

export const PagedTable = <Row,>({ pages, empty, ...table }: PagedTableProps<Row>) => {
  const { items, error, loading, more, loadMore, reload } = pages
  if (items === null) return error === null ? <Loading /> : <Problem error={error} retry={reload} />
  return (
    <div class="paged" aria-busy={loading}>
      <Problem error={error} retry={reload} />
      {items.length === 0 ? empty : <Table {...table} rows={items} />}
      {more && (
        <p class="paged-more">
          <Button small busy={loading} onClick={loadMore}>
            Show more
          </Button>
          <span class="faint">{items.length} shown</span>
        </p>
      )}
    </div>
  )
}
