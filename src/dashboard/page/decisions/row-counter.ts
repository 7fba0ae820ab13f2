// Counts the rows of an export as its bytes come.
import type { QueryOf } from '../api/client.ts'

export type ExportFormat = QueryOf<'GET /organizations/{organization}/decisions/export'>['format']

const NEWLINE = 10
const QUOTE = 34

/** Ends of rows: in CSV, a line break within quotes is none. */
export const createRowCounter = (format: ExportFormat) => {
  let quoted = false
  return (bytes: Uint8Array): number => {
    let rows = 0
    for (const byte of bytes) {
      if (byte === QUOTE) quoted = !quoted
      else if (byte === NEWLINE && (format === 'ndjson' || !quoted)) rows += 1
    }
    return rows
  }
}
