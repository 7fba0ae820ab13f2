// How this program starts threads and processes of its own. From the source each is a file that Bun runs; the one-file
// program has them inside, and starts itself with the name of the entry.
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'

/** Followed by the name of an entry; src/one-file.ts reads it. */
export const ENTRY_WORD = '--entry'

/** What `new Worker` takes. @param entry path from the root of the repository */
export const threadEntry = (entry: string): string =>
  Bun.isStandaloneExecutable ? `./${entry}` : new URL(`../../${entry}`, import.meta.url).href

export interface OwnProcess {
  /** The command line up to the entry; its arguments follow. */
  readonly words: readonly string[]
  /** Belongs into its environment. */
  readonly environment: Readonly<Record<string, string>>
}

/** @param isSmall whether its garbage collector prefers a small heap to speed */
export const ownProcess = (entry: string, isSmall = false): OwnProcess => {
  const options = isSmall ? ['--smol'] : []
  if (!Bun.isStandaloneExecutable) {
    const path = resolve(import.meta.dir, '..', '..', entry)
    return { words: [process.execPath, ...options, '--no-env-file', path], environment: {} }
  }
  // An executable takes the runtime's options from there alone; its libraries are found again in the same folder.
  const environment = { BUN_OPTIONS: options.join(' '), TMPDIR: tmpdir() }
  return { words: [process.execPath, ENTRY_WORD, entry], environment }
}
