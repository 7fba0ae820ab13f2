// Copies in a folder, possibly a mounted share. Files are written under a temporary name, flushed and renamed.
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { writeDurably } from '../lib/durable-file.ts'
import { isMissingFile } from '../lib/named-error.ts'
import { digestOf, type ShippedObject, type ShipTarget } from './ship-target.ts'

/** Partial write of a killed process. */
const isForgotten = (name: string, modifiedMs: number): boolean =>
  name.startsWith('.') && name.endsWith('.tmp') && Date.now() - modifiedMs > FORGOTTEN_MS

const FORGOTTEN_MS = 86_400_000

export const createFolderTarget = (root: string): ShipTarget => {
  const pathOf = (name: string): string => join(root, name)

  const walk = async (folder: string, found: ShippedObject[]): Promise<void> => {
    let entries: { name: string; isDirectory(): boolean; isFile(): boolean }[]
    try {
      entries = await readdir(folder, { withFileTypes: true })
    } catch (error) {
      if (isMissingFile(error)) return
      throw error
    }
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) await walk(path, found)
      else if (entry.isFile()) {
        const { size, mtimeMs } = await stat(path)
        if (!entry.name.startsWith('.')) found.push({ name: relative(root, path), bytes: size })
        else if (isForgotten(entry.name, mtimeMs)) await rm(path, { force: true })
      }
    }
  }

  return {
    description: `dir:${root}`,
    list: async (prefix) => {
      const found: ShippedObject[] = []
      await walk(join(root, prefix.slice(0, prefix.lastIndexOf('/') + 1)), found)
      return found.filter(({ name }) => name.startsWith(prefix))
    },
    put: async (name, content) => {
      const path = pathOf(name)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`)
      await writeDurably(path, temporary, content.stream())
    },
    isIntact: async (name, digest) => {
      try {
        if ((await stat(pathOf(name))).size !== digest.bytes) return false
        return (await digestOf(createReadStream(pathOf(name)))).sha256 === digest.sha256
      } catch (error) {
        if (isMissingFile(error)) return false
        throw error
      }
    },
    read: (name) => createReadStream(pathOf(name)),
    readRange: async (name, offset, length) => {
      try {
        const file = await open(pathOf(name), 'r')
        try {
          const buffer = Buffer.alloc(length)
          const { bytesRead } = await file.read(buffer, 0, length, offset)
          return buffer.subarray(0, bytesRead)
        } finally {
          await file.close()
        }
      } catch (error) {
        if (isMissingFile(error)) return null
        throw error
      }
    },
    remove: async (name) => {
      await rm(pathOf(name), { force: true })
    },
  }
}
