// A SQLite database that a copy of the service is started on, for a trial: nothing in it may make that service speak to
// others, and what it holds is counted before and after the start.
import { Database as SqliteFile } from 'bun:sqlite'

/** What people and operators made: a start neither adds to it nor takes from it. The rest comes and goes by itself. */
const LASTING = [
  'api_keys',
  'attesters',
  'bindings',
  'list_chunks',
  'list_edits',
  'lists',
  'memberships',
  'organization_keys',
  'organizations',
  'passkeys',
  'persons',
  'policies',
  'policy_revisions',
  'projects',
  'session_wallets',
  'sessions',
  'users',
  'wallet_proofs',
  'webhook_endpoints',
] as const

/** Takes away what the service would send to receivers and fetch from sources. */
export const makeQuiet = (path: string): void => {
  const file = new SqliteFile(path, { readwrite: true, create: false })
  try {
    for (const table of ['webhook_messages', 'list_sources']) file.run(`DELETE FROM ${table}`)
  } finally {
    file.close()
  }
}

/** Rows by table, of the lasting ones that this database has. */
export const countLastingRows = (path: string): ReadonlyMap<string, number> => {
  const file = new SqliteFile(path, { readonly: true })
  try {
    const tables = file.query("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[]
    const present = new Set(tables.map(({ name }) => name))
    return new Map(
      LASTING.filter((table) => present.has(table)).map((table) => {
        const row = file.query(`SELECT COUNT(*) AS rows FROM ${table}`).get() as { rows: number }
        return [table, row.rows]
      }),
    )
  } finally {
    file.close()
  }
}
