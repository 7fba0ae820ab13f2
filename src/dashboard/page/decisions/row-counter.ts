import type { QueryOf } from '../api/client.ts'

export type ExportFormat = QueryOf<'GET /organizations/{organization}/decisions/export'>['format']

const NEWLINE = 10
const QUOTE = 34

/** Counts the rows in an export's bytes; line breaks in quoted CSV values don't count. */
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
