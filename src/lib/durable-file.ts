// Writes a file with mode 0600 atomically: after a crash, it has the old or the new content.
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Makes a rename in the folder survive a power failure. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } catch (error) {
    // Some network file systems can't flush a directory.
    if (!['EINVAL', 'ENOTSUP'].includes(String((error as { code?: unknown }).code))) throw error
  } finally {
    await folder.close()
  }
}

/** @param temporary new name in the same directory, which may remain after a crash */
export const writeDurably = async (
  path: string,
  temporary: string,
  content: Iterable<string> | AsyncIterable<Uint8Array>,
): Promise<void> => {
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      for await (const piece of content) await file.writeFile(piece)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}
