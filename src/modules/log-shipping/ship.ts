// Copies a node's log to its target: first the open segments, which would be lost with the machine, then closed
// segments with their hashes. The state is read from the target, so shipping resumes after a restart.
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
} from '../../decision-log/shipped-lines.ts'
import { DetailedError, NamedError } from '../../lib/named-error.ts'
import { type ContentDigest, digestOf, type ShipTarget } from '../../object-store/ship-target.ts'
import { hasOtherLine } from './compare-copy.ts'

interface ShipProgress {
  readonly node: string
  readonly segments: number
  readonly bytes: number
}

interface ShipPass {
  /** Bytes of complete lines missing at the target; null if the log can't be read. */
  readonly bytesUnshipped: number | null
  /** Whether all lines from before the pass were shipped. */
  readonly complete: boolean
  /** First failure, after which the pass continues; null if there is none. */
  readonly failure: unknown
}

export interface ShipperOptions {
  readonly directory: string
  readonly node: string
  readonly target: ShipTarget
  /** Interval of shipping open segments while closed segments are being shipped. */
  readonly tailEveryMs: number
  readonly monotonicMs: () => number
  readonly pieceBytes?: number
  readonly onProgress?: (progress: ShipProgress) => void
}

export class ShippedWrongError extends NamedError {}

/** Only the copy contains some lines. The operator must move it out of the target. */
export class CopyDivergedError extends DetailedError {}

/** Shipped part of an open segment, from its start without gaps. */
interface Tail {
  start: number
  end: number
}

const FAILURES_MAX = 3

const keyOf = (slot: string, segment: string): string => `${slot}/${segment}`

/** Returns the number of bytes in complete lines; 0 if there is only a header, which a failed startup removes. */
const recordedLength = (path: string): number => {
  const descriptor = openSync(path, 'r')
  try {
    const length = wholeLength(descriptor, statSync(path).size)
    return length > 0 && wholeLength(descriptor, length - 1) > 0 ? length : 0
  } finally {
    closeSync(descriptor)
  }
}

export const createShipper = (options: ShipperOptions) => {
  const { directory, node, target, tailEveryMs, monotonicMs, pieceBytes = PIECE_BYTES } = options
  const done = new Set<string>()
  const tails = new Map<string, Tail>()
  const pieces = new Map<string, Set<string>>()
  /** Objects without lines that the log lacks, and objects with such lines. */
  const compared = new Set<string>()
  const diverged = new Set<string>()
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

  const learn = async (): Promise<void> => {
    const sizes = new Map<string, number>()
    const digests = new Set<string>()
    const found = await target.list(`${node}/`)
    for (const known of [done, tails, pieces, compared]) known.clear()
    const names = new Set(found.map(({ name }) => name))
    for (const name of diverged) if (!names.has(name)) diverged.delete(name)
    for (const { name, bytes: size } of found) {
      const parsed = parseShippedName(name)
      if (parsed === null) continue
      const key = keyOf(parsed.slot, parsed.segment)
      if (parsed.kind === 'piece') piecesOf(key).add(name)
      else if (parsed.kind === 'segment') sizes.set(key, size)
      else digests.add(key)
    }
    for (const [key, size] of sizes) {
      // A copy is complete when its pieces are removed. Others may have added an object next to them.
      const isComplete = digests.has(key) && !pieces.has(key)
      if (isComplete && statSync(join(directory, key), { throwIfNoEntry: false })?.size === size) done.add(key)
    }
    isKnown = true
  }

  /** Call before an object is replaced or removed. @throws CopyDivergedError */
  const requireContained = async (slot: string, segment: string, object: string, start: number): Promise<void> => {
    if (compared.has(object)) return
    const copy = { target, object, start, pieceAt: (offset: number) => pieceObject(node, slot, segment, offset) }
    if (diverged.has(object) || (await hasOtherLine(copy, pathOf(slot, segment)))) {
      diverged.add(object)
      throw new CopyDivergedError(
        `the copy ${object} has lines that this log lacks, so it is not overwritten: move the folder ${node}/ out of the target`,
      )
    }
    compared.add(object)
  }

  /** Uploads the content unless the object has it already. */
  const put = async (name: string, content: Blob, beforeReplacing?: () => Promise<void>): Promise<ContentDigest> => {
    const digest = await digestOf(content.stream())
    if (!(await target.isIntact(name, digest))) {
      await beforeReplacing?.()
      await target.put(name, content)
      if (!(await target.isIntact(name, digest)))
        throw new ShippedWrongError('the uploaded content differs from the original')
      bytes += digest.bytes
    }
    compared.add(name)
    return digest
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
      const { start } = tail
      const object = pieceObject(node, slot, name, start)
      await put(object, Bun.file(path).slice(start, end), () => requireContained(slot, name, object, start))
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
      const bytesBefore = bytes
      for (const piece of [...piecesOf(key)].sort()) {
        const parsed = parseShippedName(piece)
        if (parsed?.kind === 'piece') await requireContained(slot, name, piece, parsed.offset)
      }
      const object = segmentObject(node, slot, name)
      const { sha256 } = await put(object, Bun.file(pathOf(slot, name)), () => requireContained(slot, name, object, 0))
      await put(digestObject(node, slot, name), new Blob([`${sha256}  ${name}\n`]))
      done.add(key)
      if (bytes > bytesBefore) segments += 1
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

  const countIfReadable = (): number | null => {
    try {
      return countUnshipped()
    } catch {
      return null
    }
  }

  return {
    progress,
    pass: async (): Promise<ShipPass> => {
      let failure: unknown = null
      let failures = 0
      const attempt = async (work: () => Promise<void>): Promise<void> => {
        // One timeout per segment would take too long if the target is unreachable.
        if (failures >= FAILURES_MAX) return
        try {
          await work()
        } catch (error) {
          failure ??= error
          if (!(error instanceof CopyDivergedError)) failures += 1
        }
      }
      const shipTails = async (): Promise<void> => {
        for (const { slot, segments: names } of logOf()) {
          for (const segment of names.slice(-2)) {
            // Includes a closed segment shipped in pieces, because its complete copy may take long.
            const wasFollowed = pieces.has(keyOf(slot, segment.name))
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
        // The target may differ from the recorded state.
        if (failure !== null) isKnown = false
        return { bytesUnshipped, complete: failure === null, failure }
      } catch (error) {
        isKnown = false
        return { bytesUnshipped: countIfReadable(), complete: false, failure: failure ?? error }
      }
    },
  }
}
