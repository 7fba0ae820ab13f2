// Makes the files that hold a secret of the deployment: 32 random bytes as hex, readable by their owner only.
import { randomBytes, randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, rmSync, writeSync } from 'node:fs'

/** There whole or not at all; of several that start together, also on other machines, one makes it and all read it. */
export const makeKeyFile = (path: string): void => {
  const temporary = `${path}.${randomUUID()}.tmp`
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    writeSync(descriptor, `${randomBytes(32).toString('hex')}\n`)
    fsyncSync(descriptor)
    linkSync(temporary, path)
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== 'EEXIST') throw error
  } finally {
    closeSync(descriptor)
    rmSync(temporary, { force: true })
  }
}
