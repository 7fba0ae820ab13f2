// What deploy/release/one-file.ts makes ahead of time, because the one-file program has no source tree and no packages to
// make it from. That script puts another module in the place of this one, with the paths of files inside the program.

export interface BuiltFile {
  /** As browsers ask for it, below the page's assets. */
  readonly name: string
  readonly type: string
  /** Where its content is. */
  readonly path: string
}

export interface BuiltPage {
  /** Where the page's HTML is. */
  readonly html: string
  readonly files: readonly BuiltFile[]
}

export interface Built {
  /** For example `linux-x64`. */
  readonly target: string
  readonly pages: Readonly<Record<string, BuiltPage>>
  /** Where the packages of the lock file are, as JSON. */
  readonly packages: string
  /** Libraries that the system has to load from a disk: where each has to be below a folder, and where its content is. */
  readonly natives: Readonly<Record<string, string>>
}

/** Null where the program runs from its source. */
export const BUILT = null as Built | null
