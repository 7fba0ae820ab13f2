// CSV (RFC 4180): fields may contain line breaks, and quotes are doubled. Only unquoted fields are trimmed.
import { DetailedError } from '../../../lib/named-error.ts'

/** `detail` is for the operator and contains nothing from the file. */
export class ScreeningListInvalidError extends DetailedError {}

const FIELD_MAX = 65_536
/** DOS end-of-file character at the end of OFAC's files. */
const END_OF_FILE = '\u001a'

export function* csvRows(text: string): Generator<readonly string[]> {
  const end = text.endsWith(END_OF_FILE) ? text.length - 1 : text.length
  let at = text.startsWith('\ufeff') ? 1 : 0
  let row: string[] = []
  while (at < end) {
    let field = ''
    let stop = at
    const isQuoted = text[at] === '"'
    if (isQuoted) {
      for (;;) {
        const quote = text.indexOf('"', stop + 1)
        if (quote === -1 || quote >= end)
          throw new ScreeningListInvalidError('a quote is not closed: the file is truncated or not CSV')
        field += text.slice(stop + 1, quote)
        stop = quote + 1
        if (text[stop] !== '"') break
        field += '"'
      }
    }
    while (stop < end && text[stop] !== ',' && text[stop] !== '\n') stop += 1
    if (!isQuoted) field = text.slice(at, stop).trim()
    if (field.length > FIELD_MAX) throw new ScreeningListInvalidError('a field is too long: the file is not CSV')
    row.push(field)
    const isLast = stop >= end || text[stop] === '\n'
    at = stop + 1
    if (!isLast) continue
    if (row.length > 1 || row[0] !== '') yield row
    row = []
  }
  if (row.length > 0) yield row
}

/**
 * Returns the rows as objects by the lowercase names in the first line. @param columns of which `id` and `name` are
 * required
 */
export const csvRecords = (text: string, columns: readonly string[]): readonly Readonly<Record<string, string>>[] => {
  const [header = [], ...rows] = csvRows(text)
  const names = header.map((column) => column.toLowerCase())
  if (!names.includes('id') || !names.includes('name')) {
    throw new ScreeningListInvalidError(
      `the first line must be a header with id, name and any of the other columns: ${columns.join(', ')}`,
    )
  }
  return rows.map((row, at) => {
    if (row.length !== names.length) {
      throw new ScreeningListInvalidError(
        `entry ${at + 1} has ${row.length} fields, but the header has ${names.length}`,
      )
    }
    return Object.fromEntries(names.map((name, column) => [name, row[column] ?? '']))
  })
}
