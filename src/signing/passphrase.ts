// Reads the passphrase of the attester keystores each time keys are opened, and doesn't keep it. During a rotation,
// FILE.next contains the next passphrase, which some keystores already use.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { unreadableText } from '../lib/named-error.ts'
import { SigningError } from './errors.ts'

export type PassphraseSource =
  | { readonly source: 'file'; readonly path: string }
  | { readonly source: 'environment'; readonly name: string }

/** `detail` names the source, never the passphrase. */
export class PassphraseMissingError extends SigningError {}

export const nextPassphrasePath = (path: string): string => `${path}.next`

/** Removes a single trailing line break. @throws PassphraseMissingError */
export const readPassphraseFile = async (path: string): Promise<string> => {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new PassphraseMissingError(`the passphrase file ${unreadableText(error)}: ${path}`)
  }
  const value = text.replace(/\r?\n$/, '')
  if (value === '') throw new PassphraseMissingError(`the passphrase file is empty: ${path}`)
  return value
}

/** Returns the passphrases, newest first; two during a rotation. @throws PassphraseMissingError */
export const readPassphrases = async (source: PassphraseSource): Promise<readonly [string, ...string[]]> => {
  if (source.source === 'environment') {
    const value = process.env[source.name] ?? ''
    if (value === '') throw new PassphraseMissingError(`${source.name} is empty`)
    return [value]
  }
  const next = nextPassphrasePath(source.path)
  // Read the next passphrase first: at the end of a rotation, its file replaces the current file.
  const newer = existsSync(next) ? await readPassphraseFile(next).catch(() => null) : null
  const current = await readPassphraseFile(source.path)
  return newer === null || newer === current ? [current] : [newer, current]
}

/** @throws PassphraseMissingError */
export const readPassphrase = async (source: PassphraseSource): Promise<string> => (await readPassphrases(source))[0]
