// Reads a file argument or standard input.
import { readFileSync } from 'node:fs'
import { unreadableText } from '../lib/named-error.ts'
import { CommandFailedError } from './output.ts'

/** @param path path of a file; `-` reads stdin. @throws CommandFailedError */
export const readText = (path: string): string => {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    throw new CommandFailedError(`${path} ${unreadableText(error)}`)
  }
}
