import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeDurably } from '../lib/durable-file.ts'

/** Creates the folder with mode 0700. An existing folder keeps its mode, because it may belong to other software. */
export const makePrivateDirectory = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true, mode: 0o700 })
}

/** Writes `text` durably (mode 0600): temporary file, fsync, rename. */
export const writePrivateFile = (path: string, text: string): Promise<void> =>
  writeDurably(path, join(dirname(path), `.${randomUUID()}.tmp`), [text])
