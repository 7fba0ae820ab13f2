// Formats the measured tables of docs/contracts.md and writes them between their markers.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const PAGE_PATH = join(import.meta.dir, '..', 'docs', 'contracts.md')

/** Aligns the first column to the left and numbers to the right, like the formatter. */
export const numberTable = (titles: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = titles.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join(' | ')} |\n`
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [titles, rule, ...rows].map(line).join('')
}

const partsOf = (text: string, name: string): readonly [before: string, table: string, after: string] => {
  const parts = new RegExp(
    `^([\\s\\S]*<!-- ${name}: begin -->\\n\\n)([\\s\\S]*?)(\\n<!-- ${name}: end -->[\\s\\S]*)$`,
  ).exec(text)
  if (parts === null) throw new Error(`docs/contracts.md has no ${name} markers`)
  return [parts[1]!, parts[2]!, parts[3]!]
}

/** Returns the current text between the markers. */
export const tableOnPage = (name: string): string => partsOf(readFileSync(PAGE_PATH, 'utf8'), name)[1]

/** Prints a table; with --write, writes it between its markers. */
export const showTable = (name: string, table: string): void => {
  process.stdout.write(table)
  if (!process.argv.includes('--write')) return
  const [before, , after] = partsOf(readFileSync(PAGE_PATH, 'utf8'), name)
  writeFileSync(PAGE_PATH, before + table + after)
}
