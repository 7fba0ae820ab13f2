import { readFileSync } from 'node:fs'
import { UsageError } from '../../../command-line/output.ts'

/** @param given Verifier key, or path of a file that contains it @throws UsageError */
export const readLogKeyOption = (given: string, option: string): string => {
  if (given.includes('+')) return given.trim()
  try {
    return readFileSync(given, 'utf8').trim()
  } catch {
    throw new UsageError(`--${option} must be a verifier key or a readable file`)
  }
}
