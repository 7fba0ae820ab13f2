// Writes a file that only its owner may read, whole or not at all: after a crash, the old or the new state is there.
import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Creates the folder (0700) if it is missing. An existing folder keeps its mode, because it may not be ours. */
export const makePrivateDirectory = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true, mode: 0o700 })
}

/** Flushes the folder itself, so that the renamed entry survives a power cut. */
const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Writes `text` (mode 0600) with a temporary file, fsync and rename. */
export const writePrivateFile = async (path: string, text: string): Promise<void> => {
  const directory = dirname(path)
  const temporary = join(directory, `.${randomUUID()}.tmp`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncDirectory(directory)
}
