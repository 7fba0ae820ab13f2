// Copies a node's decision log to its target: the growing ends first, since they are what a lost machine would take along,
// then the closed segments, each checked by its hash before it counts. What is shipped is learnt from the target itself, so
// that a start goes on where the last one ended and a target that was emptied is filled again.
import { closeSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { wholeLength } from '../../decision-log/backwards.ts'
import { listSegments, listSlots, type SegmentName } from '../../decision-log/segment-name.ts'
import {
  digestObject,
  PIECE_BYTES,
  parseShippedName,
  pieceObject,
  segmentObject,
} from '../../decision-log/shipped-names.ts'
import { NamedError } from '../../lib/named-error.ts'
import { type ContentDigest, digestOf, type ShipTarget } from '../../object-store/ship-target.ts'

export interface ShipProgress {
  readonly node: string
  /** Since this shipper was made. */
  readonly segments: number
  readonly bytes: number
}

export interface ShipPass {
  /** Bytes of whole lines in the log that are not at the target; null when the log can't be read. */
  readonly bytesUnshipped: number | null
  /** Everything that was there when the pass began has been shipped. */
  readonly complete: boolean
  /** What failed first, if anything did; the rest was tried. */
  readonly failure: unknown
}

export interface Shipper {
  /** Ships what is new. Never throws for what the target or a segment does: that is in the answer. */
  pass(): Promise<ShipPass>
  progress(): ShipProgress
}

export interface ShipperOptions {
  readonly directory: string
  readonly node: string
  readonly target: ShipTarget
  /** The growing ends are looked at again after so long while closed segments are being shipped, milliseconds. */
  readonly tailEveryMs: number
  readonly monotonicMs: () => number
  readonly pieceBytes?: number
  readonly onProgress?: (progress: ShipProgress) => void
}

/** The target says that it took something and holds something else. */
export class ShippedWrongError extends NamedError {}

/** Of a segment that is not shipped whole yet: what of it is at the target, without a gap from the beginning. */
interface Tail {
  /** Where the last piece begins. */
  start: number
  end: number
}

const FAILURES_MAX = 3

const keyOf = (slot: string, segment: string): string => `${slot}/${segment}`

/** Bytes of whole lines; 0 where there is no more than a header, which no one would miss and a failed start takes back. */
const recordedLength = (path: string): number => {
  const descriptor = openSync(path, 'r')
  try {
    const length = wholeLength(descriptor, statSync(path).size)
    return length > 0 && wholeLength(descriptor, length - 1) > 0 ? length : 0
  } finally {
    closeSync(descriptor)
  }
}

export const createShipper = (options: ShipperOptions): Shipper => {
  const { directory, node, target, tailEveryMs, monotonicMs, pieceBytes = PIECE_BYTES } = options
  const done = new Set<string>()
  const tails = new Map<string, Tail>()
  /** Names of pieces at the target, by segment. */
  const pieces = new Map<string, Set<string>>()
  let isKnown = false
  let segments = 0
  let bytes = 0

  const progress = (): ShipProgress => ({ node, segments, bytes })
  const pathOf = (slot: string, segment: string): string => join(directory, slot, segment)
  const piecesOf = (key: string): Set<string> => {
    const known = pieces.get(key) ?? new Set<string>()
    pieces.set(key, known)
    return known
  }

  /** What a run before this one has shipped. */
  const learn = async (): Promise<void> => {
    const found = new Map<string, { whole: boolean; digest: boolean; parts: Map<number, number> }>()
    for (const { name, bytes: size } of await target.list(`${node}/`)) {
      const parsed = parseShippedName(name)
      if (parsed === null) continue
      const key = keyOf(parsed.slot, parsed.segment)
      const entry = found.get(key) ?? { whole: false, digest: false, parts: new Map<number, number>() }
      found.set(key, entry)
      if (parsed.kind === 'piece') {
        entry.parts.set(parsed.offset, size)
        piecesOf(key).add(name)
      } else if (parsed.kind === 'segment') entry.whole = true
      else entry.digest = true
    }
    done.clear()
    tails.clear()
    for (const [key, { whole, digest, parts }] of found) {
      // The digest is put last: where it is, the segment was found intact.
      if (whole && digest) done.add(key)
      const tail: Tail = { start: 0, end: 0 }
      for (let size = parts.get(0); size !== undefined; size = parts.get(tail.end)) {
        tail.start = tail.end
        tail.end += size
        if (size < pieceBytes) break
      }
      tails.set(key, tail)
    }
    isKnown = true
  }

  const put = async (name: string, content: Blob, known?: ContentDigest): Promise<void> => {
    const digest = known ?? (await digestOf(content.stream()))
    await target.put(name, content)
    if (!(await target.isIntact(name, digest)))
      throw new ShippedWrongError('the target holds other bytes than it was given')
    bytes += digest.bytes
  }

  const shipTail = async (slot: string, { name }: SegmentName): Promise<void> => {
    const key = keyOf(slot, name)
    if (done.has(key)) return
    const path = pathOf(slot, name)
    const length = recordedLength(path)
    const tail = tails.get(key) ?? { start: 0, end: 0 }
    tails.set(key, tail)
    while (tail.end < length) {
      if (tail.end - tail.start >= pieceBytes) tail.start = tail.end
      const end = Math.min(length, tail.start + pieceBytes)
      const object = pieceObject(node, slot, name, tail.start)
      await put(object, Bun.file(path).slice(tail.start, end))
      piecesOf(key).add(object)
      tail.end = end
    }
  }

  const removePieces = async (key: string): Promise<void> => {
    for (const object of pieces.get(key) ?? []) await target.remove(object)
    pieces.delete(key)
    tails.delete(key)
  }

  const shipClosed = async (slot: string, { name }: SegmentName): Promise<void> => {
    const key = keyOf(slot, name)
    if (!done.has(key)) {
      const content = Bun.file(pathOf(slot, name))
      const digest = await digestOf(content.stream())
      const object = segmentObject(node, slot, name)
      // A run that ended between the segment and its digest has done the long part.
      if (!(await target.isIntact(object, digest))) await put(object, content, digest)
      await put(digestObject(node, slot, name), new Blob([`${digest.sha256}  ${name}\n`]))
      done.add(key)
      segments += 1
      options.onProgress?.(progress())
    }
    await removePieces(key)
  }

  const logOf = () => listSlots(directory).map((slot) => ({ slot, segments: listSegments(join(directory, slot)) }))

  const countUnshipped = (): number =>
    logOf()
      .flatMap(({ slot, segments: names }) => names.map(({ name }) => ({ slot, name })))
      .filter(({ slot, name }) => !done.has(keyOf(slot, name)))
      .reduce((sum, { slot, name }) => {
        const length = recordedLength(pathOf(slot, name))
        return sum + Math.max(0, length - (tails.get(keyOf(slot, name))?.end ?? 0))
      }, 0)

  /** For the report of a pass that failed: why the log can't be read is said by that failure or the next pass. */
  const countIfReadable = (): number | null => {
    try {
      return countUnshipped()
    } catch {
      return null
    }
  }

  return {
    progress,
    pass: async () => {
      let failure: unknown = null
      let failures = 0
      const attempt = async (work: () => Promise<void>): Promise<void> => {
        // A target that is gone would otherwise be waited for once for each segment.
        if (failures >= FAILURES_MAX) return
        try {
          await work()
        } catch (error) {
          failure ??= error
          failures += 1
        }
      }
      const shipTails = async (): Promise<void> => {
        for (const { slot, segments: names } of logOf()) {
          for (const segment of names.slice(-2)) {
            // The one before as well, where it was followed: it was closed a moment ago and may be long on its way.
            const wasFollowed = (tails.get(keyOf(slot, segment.name))?.end ?? 0) > 0
            if (wasFollowed || segment === names.at(-1)) await attempt(() => shipTail(slot, segment))
          }
        }
      }
      try {
        if (!isKnown) await learn()
        await shipTails()
        let tailsAtMs = monotonicMs()
        for (const { slot, segments: names } of logOf()) {
          for (const segment of names.slice(0, -1)) {
            if (done.has(keyOf(slot, segment.name)) && !pieces.has(keyOf(slot, segment.name))) continue
            await attempt(() => shipClosed(slot, segment))
            if (monotonicMs() - tailsAtMs < tailEveryMs) continue
            await shipTails()
            tailsAtMs = monotonicMs()
          }
        }
        const bytesUnshipped = countUnshipped()
        // After a failure the target may hold something else than is known here.
        if (failures > 0) isKnown = false
        return { bytesUnshipped, complete: failures === 0, failure }
      } catch (error) {
        isKnown = false
        return { bytesUnshipped: countIfReadable(), complete: false, failure: failure ?? error }
      }
    },
  }
}
