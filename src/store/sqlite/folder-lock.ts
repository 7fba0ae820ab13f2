// Allows one service per data folder: two would sign without each other's records. The lock is an open transaction,
// which ends with the process.
import { Database as SqliteFile } from 'bun:sqlite'
import { closeSync, openSync } from 'node:fs'
import { fileProblem } from '../../lib/file-problem.ts'
import { StoreUnusableError } from '../errors.ts'
import { isBusy } from './sqlite-connection.ts'

const openLock = (path: string): SqliteFile => {
  closeSync(openSync(path, 'a', 0o600))
  const file = new SqliteFile(path, { create: true })
  try {
    file.run('PRAGMA busy_timeout = 0')
    // With a journal on disk, the lock would fail if the disk is full.
    file.run('PRAGMA journal_mode = MEMORY')
    file.run('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    throw error
  }
  return file
}

/** @param held message if another process holds the lock @throws StoreUnusableError */
export const lockFolder = (
  path: string,
  folder: string,
  held = `another service uses ${folder}: stop it, or set another --data-dir`,
) => {
  try {
    const file = openLock(path)
    return { release: () => file.close() }
  } catch (error) {
    throw new StoreUnusableError(
      isBusy(error) ? held : `could not lock ${path}: ${fileProblem(error) ?? String(error)}`,
      error,
    )
  }
}

export type FolderLock = ReturnType<typeof lockFolder>
