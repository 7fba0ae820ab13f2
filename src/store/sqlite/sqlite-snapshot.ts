// Copies a SQLite database in use. https://sqlite.org/lang_vacuum.html#vacuum_with_an_into_clause
import { Database as SqliteFile } from 'bun:sqlite'
import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs'
import { MOVED_TO, movedError } from '../copy/moved.ts'
import { StoreUnavailableError, StoreUnusableError } from '../errors.ts'

const BUSY_TIMEOUT_MS = 10_000

/** Blocks the thread: for commands only. @param to must not exist @throws StoreUnusableError, StoreUnavailableError */
export const snapshotSqlite = (path: string, to: string): void => {
  if (!existsSync(path)) throw new StoreUnusableError(`the database ${path} does not exist`)
  // Creating the file first sets its mode before any content is written. SQLite accepts an empty target.
  closeSync(openSync(to, 'wx', 0o600))
  const file = new SqliteFile(path, { readwrite: true, create: false })
  try {
    file.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    file.run('PRAGMA trusted_schema = OFF')
    file.query('VACUUM INTO ?').run(to)
  } catch (error) {
    throw new StoreUnavailableError(error)
  } finally {
    file.close()
  }
  const copy = new SqliteFile(to, { readonly: true })
  try {
    const rows = copy.query('PRAGMA integrity_check').all() as { integrity_check: string }[]
    if (rows.length !== 1 || rows[0]?.integrity_check !== 'ok')
      throw new StoreUnusableError(`the copy of ${path} is damaged`)
  } finally {
    copy.close()
  }
  const descriptor = openSync(to, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

export interface TokenAttester {
  readonly kind: 'secp256k1' | 'ed25519'
  readonly address: string
  readonly key: string
}

/** Returns the names of the evidence files that a copied database needs. */
export const evidenceFilesOf = (path: string): readonly string[] => {
  const file = new SqliteFile(path, { readonly: true })
  try {
    const rows = file.query('SELECT storage_name AS name FROM session_evidence WHERE wrapped_key IS NOT NULL').all()
    return (rows as { name: string }[]).map(({ name }) => name)
  } finally {
    file.close()
  }
}

/** @throws StoreUnusableError if the file is not a service's database, or its content was moved */
export const describeSqlite = (path: string) => {
  const file = new SqliteFile(path, { readonly: true })
  try {
    const [deployment] = file.query("SELECT value FROM deployment WHERE name = 'deployment_id'").all() as {
      value: string
    }[]
    const [newest] = file.query('SELECT MAX(number) AS number FROM schema_migrations').all() as { number: number }[]
    const [moved] = file.query('SELECT value FROM deployment WHERE name = ?').all(MOVED_TO) as { value: string }[]
    if (moved !== undefined) throw movedError(moved.value)
    if (deployment === undefined || newest === undefined) throw new StoreUnusableError(`${path} contains no deployment`)
    const tokenAttesters = file
      .query(
        `SELECT kind, address, keystore_file AS key FROM attesters
         WHERE keystore_file LIKE 'pkcs11:%' AND status <> 'retired' ORDER BY created_at_seconds, id`,
      )
      .all() as TokenAttester[]
    return { deploymentId: deployment.value, schema: newest.number, tokenAttesters }
  } catch (error) {
    if (error instanceof StoreUnusableError) throw error
    throw new StoreUnusableError(`${path} contains no deployment`, error)
  } finally {
    file.close()
  }
}
