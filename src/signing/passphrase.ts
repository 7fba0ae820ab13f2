// Reads the passphrase of the attester keystores from its configured place, each time keys are opened; it is not kept.
// While a passphrase in a file is being rotated, the next one is in FILE.next: some keystores already open with it,
// others do not yet.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { SigningError } from './errors.ts'

/** Where the passphrase is. */
export type PassphraseSource =
  | { readonly source: 'file'; readonly path: string }
  | { readonly source: 'environment'; readonly name: string }

/** `detail` names the place, never the passphrase. */
export class PassphraseMissingError extends SigningError {}

/** The file that holds the next passphrase during a rotation. */
export const nextPassphrasePath = (path: string): string => `${path}.next`

/** A single line break at the end of the file is not part of the passphrase. @throws PassphraseMissingError */
export const readPassphraseFile = async (path: string): Promise<string> => {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch {
    throw new PassphraseMissingError(`the passphrase file can't be read: ${path}`)
  }
  const value = text.replace(/\r?\n$/, '')
  if (value === '') throw new PassphraseMissingError(`the passphrase file is empty: ${path}`)
  return value
}

/**
 * The passphrases that may open a keystore, the newest first: two during a rotation.
 * @throws PassphraseMissingError
 */
export const readPassphrases = async (source: PassphraseSource): Promise<readonly [string, ...string[]]> => {
  if (source.source === 'environment') {
    const value = process.env[source.name] ?? ''
    if (value === '') throw new PassphraseMissingError(`${source.name} is empty`)
    return [value]
  }
  const next = nextPassphrasePath(source.path)
  // Read the next passphrase before the current one: at the end of a rotation, the next file replaces the current one.
  const newer = existsSync(next) ? await readPassphraseFile(next).catch(() => null) : null
  const current = await readPassphraseFile(source.path)
  return newer === null || newer === current ? [current] : [newer, current]
}

/** The passphrase for new keystores. @throws PassphraseMissingError */
export const readPassphrase = async (source: PassphraseSource): Promise<string> => (await readPassphrases(source))[0]
