import type { Database } from './database.ts'

/** Returns the time of PostgreSQL's clock in Unix seconds; null for SQLite, which uses this machine's clock. */
export const readDatabaseClock = async (database: Database): Promise<number | null> => {
  if (database.dialect !== 'postgres') return null
  const [row] = await database.query<{ seconds: number | bigint }>(
    'SELECT CAST(extract(epoch FROM clock_timestamp()) AS bigint) AS seconds',
  )
  return row === undefined ? null : Number(row.seconds)
}
