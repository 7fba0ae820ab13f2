// CSV cells (RFC 4180) that a spreadsheet opens without evaluating them.

/** Prefixes cells that a spreadsheet would evaluate as a formula with an apostrophe (OWASP, CSV injection). */
export const escapeFormula = (text: string): string => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text)

export const unescapeFormula = (cell: string): string => (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell)

const csvCell = (value: unknown): string => {
  const plain = value === null || value === undefined ? '' : Array.isArray(value) ? value.join(' ') : String(value)
  const safe = typeof value === 'string' ? escapeFormula(plain) : plain
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export const csvLine = (values: readonly unknown[]): string => `${values.map(csvCell).join(',')}\r\n`
