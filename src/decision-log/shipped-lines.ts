// Lines of other nodes, read from what they shipped: each is put at its own place in a sparse file of a scratch folder, so
// that what reads a log by places reads it there, proof and all.
import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { ShipTarget } from '../object-store/ship-target.ts'
import type { LinePlace } from './located.ts'
import { MAX_LINE_BYTES } from './record.ts'
import { PIECE_BYTES, pieceObject, segmentObject } from './shipped-names.ts'

/** How much around the line: none, or so much that the lines next to it are whole. */
export type Surroundings = 'none' | 'neighbours'

/** As much of the next line as holds its hash of this one. */
const NEXT_BYTES = 128

/** From the closed segment, else from the pieces of the growing one; null when neither has it. */
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
 * Brings lines of a node's log into `scratch`, a folder that then reads like that log where these lines are.
 * @param pieceBytes as the shipper has it
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
    // Not 'w', which would empty the file: several places may be in one segment.
    const sparse = await open(join(folder, place.segment), constants.O_WRONLY | constants.O_CREAT, 0o600)
    try {
      await sparse.write(bytes, 0, bytes.length, from)
    } finally {
      await sparse.close()
    }
  }
}
