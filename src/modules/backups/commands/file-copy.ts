// Copies files readable only by the owner, flushed to disk, and hashed while copying.
import { createHash } from 'node:crypto'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { BackedUpFile } from './backup-manifest.ts'

const CHUNK_BYTES = 1_048_576

export const syncPath = async (path: string): Promise<void> => {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export const copyFileHashed = async (
  from: string,
  to: string,
  length = Number.POSITIVE_INFINITY,
): Promise<Omit<BackedUpFile, 'path'>> => {
  const source = await open(from, 'r')
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    const target = await open(to, 'wx', 0o600)
    try {
      const hash = createHash('sha256')
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
      let bytes = 0
      while (bytes < length) {
        const { bytesRead } = await source.read(buffer, 0, Math.min(CHUNK_BYTES, length - bytes), bytes)
        if (bytesRead === 0) break
        const chunk = buffer.subarray(0, bytesRead)
        hash.update(chunk)
        await target.writeFile(chunk)
        bytes += bytesRead
      }
      await target.sync()
      return { bytes, sha256: hash.digest('hex') }
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

export const writeFileHashed = async (to: string, text: string): Promise<Omit<BackedUpFile, 'path'>> => {
  const content = Buffer.from(text)
  const target = await open(to, 'wx', 0o600)
  try {
    await target.writeFile(content)
    await target.sync()
  } finally {
    await target.close()
  }
  return { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }
}
