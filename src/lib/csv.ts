// Cells of CSV (RFC 4180) that a spreadsheet opens without running anything in them.

/** A cell that begins like a formula is one to a spreadsheet (OWASP, CSV injection): an apostrophe makes it text. */
export const escapeFormula = (text: string): string => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text)

/** The text that `escapeFormula` was given. */
export const unescapeFormula = (cell: string): string => (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell)

const csvCell = (value: unknown): string => {
  const plain = value === null || value === undefined ? '' : Array.isArray(value) ? value.join(' ') : String(value)
  const safe = typeof value === 'string' ? escapeFormula(plain) : plain
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** One line with its end. */
export const csvLine = (values: readonly unknown[]): string => `${values.map(csvCell).join(',')}\r\n`
