// Executes long reads sequentially on its own connection. Ends only on request, never by force.
import type { LongReadOrder, LongReadReply } from './long-reads.ts'
import { openSqliteConnection, type SqliteConnection } from './sqlite-connection.ts'

declare const self: Worker

let connection: SqliteConnection | null = null

const read = (sql: string, parameters: Parameters<SqliteConnection['all']>[1]): LongReadReply['rows'] => {
  try {
    return connection?.all(sql, parameters) ?? null
  } catch {
    // The caller repeats the read on its own connection and reports that error.
    return null
  }
}

self.onmessage = ({ data }: MessageEvent<LongReadOrder>) => {
  if (data.type === 'start') connection = openSqliteConnection(data.path, true)
  else if (data.type === 'read') {
    self.postMessage({ id: data.id, rows: read(data.sql, data.parameters) } satisfies LongReadReply)
  } else {
    connection?.close()
    process.exit(0)
  }
}
