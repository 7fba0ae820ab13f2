// Why a file can't be used, in words for the operator, from what the system or SQLite said of it.
// Source: errno(3), https://sqlite.org/rescode.html.

import { causesOf } from '../../lib/named-error.ts'

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  SQLITE_FULL: 'the disk is full',
  // The index of the write-ahead log could not be made longer.
  SQLITE_IOERR_SHMSIZE: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'it is read-only',
  SQLITE_READONLY: 'it is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  ENOTDIR: 'a file is in its way',
  EEXIST: 'a file is in its way',
  EIO: 'the disk fails (input/output error)',
  SQLITE_CORRUPT: 'it is damaged',
  SQLITE_NOTADB: 'it is not a database',
}

const problemOf = ({ code, syscall }: { code?: unknown; syscall?: unknown }): string | undefined => {
  if (typeof code !== 'string') return undefined
  // A missing file may be a fault of ours. A folder that can't be made is under a broken link or a file system's own folder.
  if (code === 'ENOENT' && syscall === 'mkdir') return "it can't be made there"
  return PROBLEMS[code] ?? (code.startsWith('SQLITE_IOERR') ? PROBLEMS['EIO'] : undefined)
}

/** Searches the error and its causes for a problem with a file. @returns it in words; null when there is none */
export const fileProblem = (error: unknown): string | null => {
  for (const each of causesOf(error)) {
    const problem = problemOf(each as Error & { code?: unknown; syscall?: unknown })
    if (problem !== undefined) return problem
  }
  return null
}

/** The same as a sentence that a command or a start prints before it ends. @returns null when it is not about a file */
export const explainFileProblem = (error: unknown): string | null => {
  const problem = fileProblem(error)
  if (problem === null) return null
  const { path = 'the data folder' } = error as { path?: string }
  return `${path} can't be used: ${problem}; change that, then try again`
}
