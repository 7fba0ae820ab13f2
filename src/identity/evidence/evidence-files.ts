// Encrypted documents, written atomically under random names of 32 hex digits.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, opendir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DependencyUnavailableError } from '../../domain/errors.ts'
import { writeDurably } from '../../lib/durable-file.ts'
import { isMissingFile } from '../../lib/named-error.ts'
import { EvidenceUnreadableError } from './errors.ts'

const NAME = /^[0-9a-f]{32}$/
const TEMPORARY = '.tmp'
const READ_BYTES = 65_536

const isSystemError = (error: unknown): boolean => typeof (error as { errno?: unknown } | null)?.errno === 'number'

export const createEvidenceFiles = (folder: string) => {
  const pathOf = (name: string): string => {
    if (!NAME.test(name.replace(TEMPORARY, '')))
      throw new EvidenceUnreadableError(new Error('not an evidence file name'))
    return join(folder, name)
  }

  return {
    /** @returns the file name, once flushed to disk. @throws any error of the source */
    write: async (source: AsyncIterable<Uint8Array>): Promise<string> => {
      const name = randomBytes(16).toString('hex')
      const path = pathOf(name)
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeDurably(path, path + TEMPORARY, source)
      } catch (error) {
        if (!isSystemError(error)) throw error
        throw new DependencyUnavailableError('the document could not be stored; try again later', { cause: error })
      }
      return name
    },

    read: async function* (name: string): AsyncGenerator<Uint8Array> {
      const handle = await open(pathOf(name), constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
        throw new EvidenceUnreadableError(error)
      })
      try {
        for (;;) {
          const { bytesRead, buffer } = await handle.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES)
          if (bytesRead === 0) return
          yield buffer.subarray(0, bytesRead)
        }
      } finally {
        await handle.close()
      }
    },

    remove: (name: string): Promise<void> => rm(pathOf(name), { force: true }),

    /** Includes incomplete files left by a crash. */
    list: async function* (): AsyncGenerator<{ readonly name: string; readonly modifiedAtSeconds: number }> {
      const directory = await opendir(folder).catch((error: unknown) => {
        if (isMissingFile(error)) return null
        throw error
      })
      if (directory === null) return
      for await (const entry of directory) {
        if (!entry.isFile() || !NAME.test(entry.name.replace(TEMPORARY, ''))) continue
        const found = await stat(join(folder, entry.name)).catch((error: unknown) => {
          if (isMissingFile(error)) return null
          throw error
        })
        if (found !== null) yield { name: entry.name, modifiedAtSeconds: Math.floor(found.mtimeMs / 1000) }
      }
    },
  }
}

export type EvidenceFiles = ReturnType<typeof createEvidenceFiles>
