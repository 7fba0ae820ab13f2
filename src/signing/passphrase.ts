// Reads the passphrase of the attester keystores from where it is configured to be. Asked for whenever keys are opened,
// and not kept.
import { readFile } from 'node:fs/promises'
import { SigningError } from './errors.ts'

/** Where the passphrase is. */
export type PassphraseSource =
  | { readonly source: 'file'; readonly path: string }
  | { readonly source: 'environment'; readonly name: string }

/** `detail` names the place, never the value. */
export class PassphraseMissingError extends SigningError {
  override readonly name = 'PassphraseMissingError'
}

const readText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8')
  } catch {
    throw new PassphraseMissingError(`the passphrase file can't be read: ${path}`)
  }
}

/** One line break at the end of a file is not part of the passphrase. @throws PassphraseMissingError */
export const readPassphrase = async (source: PassphraseSource): Promise<string> => {
  if (source.source === 'environment') {
    const value = process.env[source.name] ?? ''
    if (value === '') throw new PassphraseMissingError(`${source.name} is empty`)
    return value
  }
  const value = (await readText(source.path)).replace(/\r?\n$/, '')
  if (value === '') throw new PassphraseMissingError(`the passphrase file is empty: ${source.path}`)
  return value
}
