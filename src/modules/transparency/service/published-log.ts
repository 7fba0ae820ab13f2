// Serves the decision log's tree as public files. Reads the head at most twice per second, and caches complete tiles.
// Source: https://c2sp.org/tlog-tiles.
import { LRUCache } from 'lru-cache'
import type { LogFile, LogFiles } from '../../../server/log-files.ts'
import { HASH_BYTES } from '../tree/hash.ts'
import { parseTilePath, TILE_BYTES } from '../tree/tiles.ts'
import type { LogTree } from './open-transparency.ts'

/**
 * Shorter than a client's polling interval, so that no client receives an older head after a newer head of another
 * process.
 */
const HEAD_MS = 500
const TILES_KEPT = 512

const textOf = (content: string): LogFile => ({ content, contentType: 'text/plain; charset=utf-8' })

export const createPublishedLog = (tree: Pick<LogTree, 'open'>, monotonicMs: () => number): LogFiles => {
  const full = new LRUCache<string, Uint8Array>({ max: TILES_KEPT })
  let head: { readonly readMs: number; readonly file: Promise<LogFile | null> } | null = null

  const readHead = async (): Promise<LogFile | null> => {
    const checkpoint = await (await tree.open()).published()
    return checkpoint === null ? null : textOf(checkpoint)
  }

  return async (path) => {
    if (path === '/checkpoint') {
      if (head === null || monotonicMs() - head.readMs >= HEAD_MS) head = { readMs: monotonicMs(), file: readHead() }
      return head.file
    }
    const tile = parseTilePath(path.slice(1))
    if (tile === null) return null
    const { level, number, width } = tile
    const key = `${level}/${number}`
    let hashes = full.get(key)
    if (hashes === undefined) {
      ;[hashes = new Uint8Array(0)] = await (await tree.open()).readTiles([{ level, number }])
      if (hashes.length === TILE_BYTES) full.set(key, hashes)
    }
    if (hashes.length < width * HASH_BYTES) return null
    return { content: Uint8Array.from(hashes.subarray(0, width * HASH_BYTES)), contentType: 'application/octet-stream' }
  }
}
