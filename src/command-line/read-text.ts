// A file that a command is given, or what is written to its input.
import { readFileSync } from 'node:fs'
import { CommandFailedError } from './output.ts'

/** @param path of a file; `-` reads stdin. @throws CommandFailedError */
export const readText = (path: string): string => {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch {
    throw new CommandFailedError(`${path} can't be read`)
  }
}
