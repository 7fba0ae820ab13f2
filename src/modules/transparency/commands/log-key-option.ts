// Option with a verifier key: the key itself, or the path of a file that contains it.
import { readFileSync } from 'node:fs'
import { UsageError } from '../../../command-line/output.ts'

/** @throws UsageError */
export const readLogKeyOption = (given: string, option: string): string => {
  if (given.includes('+')) return given.trim()
  try {
    return readFileSync(given, 'utf8').trim()
  } catch {
    throw new UsageError(`--${option} is neither a verifier key nor a file that can be read`)
  }
}
