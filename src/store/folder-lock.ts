// One service a data folder: two would write each other's decision log and sign beside each other's records. The lock is
// the operating system's, held through an open database, so it ends with the process however that ends.
import { Database as SqliteFile } from 'bun:sqlite'
import { closeSync, openSync } from 'node:fs'
import { StoreUnusableError } from './errors.ts'

export interface FolderLock {
  release(): void
}

/** @throws StoreUnusableError when another process holds it. */
export const lockFolder = (path: string, folder: string): FolderLock => {
  closeSync(openSync(path, 'a', 0o600))
  const file = new SqliteFile(path, { create: true })
  try {
    file.run('PRAGMA busy_timeout = 0')
    file.run('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    throw new StoreUnusableError(`another service runs on ${folder}: stop it, or set another --data-dir`, error)
  }
  return { release: () => file.close() }
}
