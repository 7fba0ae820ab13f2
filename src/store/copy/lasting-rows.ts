// Counts rows of a SQLite database before and after a trial start of the service.
import { Database as SqliteFile } from 'bun:sqlite'

/** Tables that only people and operators change. */
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
  'session_rejections',
  'session_removed_wallets',
  'session_wallets',
  'sessions',
  'users',
  'wallet_proofs',
  'webhook_endpoints',
] as const

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
