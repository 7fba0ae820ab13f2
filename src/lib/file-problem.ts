// Explains to the operator why a file cannot be used. Source: errno(3), https://sqlite.org/rescode.html.

import { causesOf } from './named-error.ts'

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  SQLITE_FULL: 'the disk is full',
  // The index of the write-ahead log could not be extended.
  SQLITE_IOERR_SHMSIZE: 'the disk is full',
  EDQUOT: 'the disk quota is exhausted',
  EROFS: 'it is read-only',
  SQLITE_READONLY: 'it is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOTDIR: 'a file exists where a folder is required',
  EEXIST: 'a file with this name already exists',
  EIO: 'the disk reported an input/output error',
  SQLITE_CORRUPT: 'the file is corrupt',
  SQLITE_NOTADB: 'the file is not a database',
}

const problemOf = ({ code, syscall }: { code?: unknown; syscall?: unknown }): string | undefined => {
  // The error is about a port or an address, not a file.
  if (typeof code !== 'string' || syscall === 'listen' || syscall === 'bind' || syscall === 'connect') return undefined
  // The folder is below a broken link or in a special file system. Other missing files may be a bug in this program.
  if (code === 'ENOENT' && syscall === 'mkdir') return 'it cannot be created there'
  return PROBLEMS[code] ?? (code.startsWith('SQLITE_IOERR') ? PROBLEMS['EIO'] : undefined)
}

/** Searches the error and its causes. Null if none is about a file. */
export const fileProblem = (error: unknown): string | null => {
  for (const each of causesOf(error)) {
    const problem = problemOf(each as Error & { code?: unknown; syscall?: unknown })
    if (problem !== undefined) return problem
  }
  return null
}

export const explainFileProblem = (error: unknown): string | null => {
  const problem = fileProblem(error)
  if (problem === null) return null
  const paths = [...causesOf(error)].map((each) => (each as { path?: string }).path)
  const path = paths.find((each) => each !== undefined) ?? 'the data folder'
  return `${path} cannot be used: ${problem}; resolve this, then try again`
}
