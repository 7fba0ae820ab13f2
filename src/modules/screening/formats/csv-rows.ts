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
    let stop: number
    const isQuoted = text[at] === '"'
    if (isQuoted) {
      let from = at + 1
      for (;;) {
        const quote = text.indexOf('"', from)
        if (quote === -1 || quote >= end)
          throw new ScreeningListInvalidError('a quote is not closed: the file is truncated or not CSV')
        field += text.slice(from, quote)
        from = quote + 1
        if (text[from] !== '"') break
        field += '"'
        from += 1
      }
      stop = from
      while (stop < end && text[stop] !== ',' && text[stop] !== '\n') stop += 1
    } else {
      stop = at
      while (stop < end && text[stop] !== ',' && text[stop] !== '\n') stop += 1
      field = text.slice(at, stop)
    }
    if (field.length > FIELD_MAX) throw new ScreeningListInvalidError('a field is too long: the file is not CSV')
    row.push(isQuoted ? field : field.trim())
    const isLast = stop >= end || text[stop] === '\n'
    at = stop + 1
    if (!isLast) continue
    if (row.length > 1 || row[0] !== '') yield row
    row = []
  }
  if (row.length > 0) yield row
}
