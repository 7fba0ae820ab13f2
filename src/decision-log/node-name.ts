// The name of a node: it is kept with the node's decision log, and stands before the log's slots wherever several nodes meet.
import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { errorCodeOf } from '../lib/named-error.ts'

/** In the log's own folder: where the log goes, the name goes. */
const NODE_FILE = 'node-name'
const NODE = /^[a-z0-9][a-z0-9-]{0,79}$/

export const isNodeName = (text: string): boolean => NODE.test(text)

/** Null where the log has no name: it was never shipped, or the name is gone. */
export const knownNodeName = (directory: string): string | null =>
  existsSync(join(directory, NODE_FILE)) ? nodeNameOf(directory) : null

/** The name under which this log is shipped: the machine's and some random letters, made once and kept with the log. */
export const nodeNameOf = (directory: string): string => {
  const path = join(directory, NODE_FILE)
  if (!existsSync(path)) {
    const machine = hostname()
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 40)
    const temporary = `${path}.${randomBytes(8).toString('hex')}.tmp`
    writeFileSync(temporary, `${machine === '' ? 'node' : machine}-${randomBytes(4).toString('hex')}\n`, {
      mode: 0o600,
    })
    try {
      // Of two that start together one makes it, and both read it.
      linkSync(temporary, path)
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST') throw error
    } finally {
      rmSync(temporary, { force: true })
    }
  }
  const name = readFileSync(path, 'utf8').trim()
  if (!NODE.test(name)) throw new Error(`${path} must hold lower-case letters, digits and - only`)
  return name
}
