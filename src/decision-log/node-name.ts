// Name of a node, stored with its decision log. Prefixes the log's slots in data from several nodes.
import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { errorCodeOf } from '../lib/named-error.ts'

const NODE_FILE = 'node-name'
const NODE = /^[a-z0-9][a-z0-9-]{0,79}$/

export const isNodeName = (text: string): boolean => NODE.test(text)

/** Returns null if the service never started with this log, or its name was removed. */
export const knownNodeName = (directory: string): string | null =>
  existsSync(join(directory, NODE_FILE)) ? nodeNameOf(directory) : null

/** Returns the name of the node: host name and random letters. Creates and stores the name on the first call. */
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
      // If two processes start at the same time, one creates the file and both read it.
      linkSync(temporary, path)
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST') throw error
    } finally {
      rmSync(temporary, { force: true })
    }
  }
  const name = readFileSync(path, 'utf8').trim()
  if (!NODE.test(name)) throw new Error(`${path} must contain only lowercase letters, digits and hyphens`)
  return name
}
