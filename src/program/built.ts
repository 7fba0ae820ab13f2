// Files built by deploy/release/one-file.ts, because the single-file executable contains neither the source tree nor
// packages. That script replaces this module with a version that has the paths of the embedded files.

export interface BuiltFile {
  /** URL path of the file, relative to the page's assets. */
  readonly name: string
  readonly type: string
  /** Path of the content. */
  readonly path: string
}

export interface BuiltPage {
  /** Path of the page's HTML. */
  readonly html: string
  readonly files: readonly BuiltFile[]
}

export interface Built {
  /** Platform, for example `linux-x64`. */
  readonly target: string
  readonly pages: Readonly<Record<string, BuiltPage>>
  /** Path of the JSON file with the packages of the lock file. */
  readonly packages: string
  /** Libraries that the system must load from disk: path relative to a folder → path of the content. */
  readonly natives: Readonly<Record<string, string>>
}

/** Null if the program runs from source. */
export const BUILT = null as Built | null
