// Starts threads and processes of this program. From source, each entry is a file that Bun runs. The single-file
// executable contains the entries and starts itself with the name of the entry.
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'

/** Followed by the name of an entry. Parsed by src/one-file.ts. */
export const ENTRY_WORD = '--entry'

/** Returns the argument for `new Worker`. @param entry path relative to the root of the repository */
export const threadEntry = (entry: string): string =>
  Bun.isStandaloneExecutable ? `./${entry}` : new URL(`../../${entry}`, import.meta.url).href

export interface OwnProcess {
  /** Command line including the entry. Arguments of the entry follow. */
  readonly words: readonly string[]
  /** Environment variables of the process. */
  readonly environment: Readonly<Record<string, string>>
}

/** @param isSmall true to favor a small heap over speed */
export const ownProcess = (entry: string, isSmall = false): OwnProcess => {
  const options = isSmall ? ['--smol'] : []
  if (!Bun.isStandaloneExecutable) {
    const path = resolve(import.meta.dir, '..', '..', entry)
    return { words: [process.execPath, ...options, '--no-env-file', path], environment: {} }
  }
  // An executable reads runtime options only from this variable. The fixed TMPDIR lets it find unpacked libraries
  // again.
  const environment = { BUN_OPTIONS: options.join(' '), TMPDIR: tmpdir() }
  return { words: [process.execPath, ENTRY_WORD, entry], environment }
}
