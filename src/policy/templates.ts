// Policies to start from: the documents of docs/policies, which have their tests run like any other.
import { readdirSync, readFileSync } from 'node:fs'
import { compileSource } from './compile.ts'

const DIRECTORY = new URL('../../docs/policies/', import.meta.url)
/** For editors, in the files of this folder: it names the schema by its place beside them. */
const EDITOR_LINE = /^# yaml-language-server: .*\n/
const SUFFIX = '.yaml'

export interface PolicyTemplate {
  readonly name: string
  /** Of its document. */
  readonly title: string
  readonly description: string
  readonly source: string
}

/** Templates by name. Read from disk each time, because they are rarely asked for. */
export const readTemplates = (): readonly PolicyTemplate[] =>
  readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(SUFFIX))
    .sort()
    .map((file) => {
      const source = readFileSync(new URL(file, DIRECTORY), 'utf8').replace(EDITOR_LINE, '')
      const { document } = compileSource(source).policy
      return {
        name: file.slice(0, -SUFFIX.length),
        title: document.name,
        description: document.description,
        source,
      }
    })
