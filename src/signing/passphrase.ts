// Reads the passphrase of the attester keystores from where it is configured to be. Asked for whenever keys are opened,
// and not kept. While a passphrase that is in a file is being rotated, the next one is beside it, in FILE.next: some
// keystores open by it already, others not yet.
import { existsSync } from 'node:fs'
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

/** Where the next passphrase is during a rotation. */
export const nextPassphrasePath = (path: string): string => `${path}.next`

/** One line break at the end of a file is not part of the passphrase. @throws PassphraseMissingError */
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
 * What may open a keystore, the newest first: two during a rotation.
 * @throws PassphraseMissingError
 */
export const readPassphrases = async (source: PassphraseSource): Promise<readonly [string, ...string[]]> => {
  if (source.source === 'environment') {
    const value = process.env[source.name] ?? ''
    if (value === '') throw new PassphraseMissingError(`${source.name} is empty`)
    return [value]
  }
  const next = nextPassphrasePath(source.path)
  // Before the other: at its end a rotation puts this one in that one's place.
  const newer = existsSync(next) ? await readPassphraseFile(next).catch(() => null) : null
  const current = await readPassphraseFile(source.path)
  return newer === null || newer === current ? [current] : [newer, current]
}

/** What new keystores are locked with. @throws PassphraseMissingError */
export const readPassphrase = async (source: PassphraseSource): Promise<string> => (await readPassphrases(source))[0]
