// Reads lines of other nodes from their shipped logs. Writes each line at its own offset in a sparse file, so that
// readers of log positions work on it.
import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { ShipTarget } from '../object-store/ship-target.ts'
import type { LinePlace } from './located.ts'
import { isNodeName } from './node-name.ts'
import { MAX_LINE_BYTES } from './record.ts'
import { isSlotName, parseSegmentName } from './segment-name.ts'

/** Bytes to read around the line: none, or enough to include both neighboring lines. */
export type Surroundings = 'none' | 'neighbors'

/** Number of bytes of the next line that contain its hash of this line. */
const NEXT_BYTES = 128

/** The last piece is replaced as a whole until it is full. A segment of the default size has 64 pieces. */
export const PIECE_BYTES = 4_194_304

type ShippedName =
  | { readonly kind: 'segment' | 'digest'; readonly node: string; readonly slot: string; readonly segment: string }
  | {
      readonly kind: 'piece'
      readonly node: string
      readonly slot: string
      readonly segment: string
      readonly offset: number
    }

/**
 * Each closed segment has an object with its SHA-256. Pieces of the open segment sort by offset, so that `cat` joins
 * them.
 */
export const segmentObject = (node: string, slot: string, segment: string): string => `${node}/${slot}/${segment}`

/** Returns the name of the object with a segment's SHA-256, in the format of `sha256sum -c`. */
export const digestObject = (node: string, slot: string, segment: string): string =>
  `${segmentObject(node, slot, segment)}.sha256`

export const pieceObject = (node: string, slot: string, segment: string, offset: number): string =>
  `${segmentObject(node, slot, segment)}.${String(offset).padStart(12, '0')}.part`

export const parseShippedName = (name: string): ShippedName | null => {
  const [node = '', slot = '', file = '', ...more] = name.split('/')
  if (!isNodeName(node) || !isSlotName(slot) || more.length > 0) return null
  const piece = /^(.+\.ndjson)\.(\d{12})\.part$/.exec(file)
  const segment = piece?.[1] ?? file.replace(/\.sha256$/, '')
  if (parseSegmentName(segment) === null) return null
  if (piece?.[2] !== undefined) return { kind: 'piece', node, slot, segment, offset: Number(piece[2]) }
  return { kind: file === segment ? 'segment' : 'digest', node, slot, segment }
}

/** Reads the closed segment, or pieces of the open segment; null if neither contains the range. */
const readShipped = async (
  target: ShipTarget,
  node: string,
  { slot, segment }: LinePlace,
  offset: number,
  length: number,
  pieceBytes: number,
): Promise<Uint8Array | null> => {
  const whole = await target.readRange(segmentObject(node, slot, segment), offset, length)
  if (whole !== null) return whole
  const parts: Uint8Array[] = []
  for (let from = offset; from < offset + length; ) {
    const start = Math.floor(from / pieceBytes) * pieceBytes
    const end = Math.min(offset + length, start + pieceBytes)
    const part = await target.readRange(pieceObject(node, slot, segment, start), from - start, end - from)
    if (part !== null) parts.push(part)
    if (part === null || part.length < end - from) break
    from = end
  }
  return parts.length === 0 ? null : Buffer.concat(parts)
}

/**
 * Copies lines of a node's log into `scratch`, to be read like that log. @param pieceBytes piece size of the shipper
 */
export const bringLines = async (
  target: ShipTarget,
  node: string,
  places: readonly LinePlace[],
  surroundings: Surroundings,
  scratch: string,
  pieceBytes = PIECE_BYTES,
): Promise<void> => {
  for (const place of places) {
    const before = surroundings === 'none' ? 0 : Math.min(place.offset, MAX_LINE_BYTES + 1)
    const from = place.offset - before
    const length = before + place.length + 1 + (surroundings === 'none' ? 0 : NEXT_BYTES)
    const bytes = await readShipped(target, node, place, from, length, pieceBytes)
    if (bytes === null) continue
    const folder = join(scratch, place.slot)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // Unlike these flags, 'w' would empty the file, which may already contain other lines.
    const sparse = await open(join(folder, place.segment), constants.O_WRONLY | constants.O_CREAT, 0o600)
    try {
      await sparse.write(bytes, 0, bytes.length, from)
    } finally {
      await sparse.close()
    }
  }
}
