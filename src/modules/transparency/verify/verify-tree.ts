// Verifies the log against its tree, and hashes every line again. An attacker can recompute a hash chain after changing
// or truncating the log, but not a tree whose signed heads are stored elsewhere.
import { join } from 'node:path'
import { DecisionLineMalformedError } from '../../../decision-log/errors.ts'
import { forEachLine } from '../../../decision-log/forwards.ts'
import { listSegments, listSlots, parseSegmentName, type SegmentName } from '../../../decision-log/segment-name.ts'
import type { TreeReport } from '../../../decision-log/tree-report.ts'
import { firstHeader } from '../../../decision-log/verify.ts'
import { EMPTY_TREE, growTree, rootOf } from '../tree/grow.ts'
import { EMPTY_ROOT, HASH_BYTES } from '../tree/hash.ts'
import { leafHashOf } from '../tree/leaf.ts'
import type { VerifierKey } from '../tree/note.ts'
import { type ReadTiles, readRoot, TileTooShortError } from '../tree/prove.ts'
import { TILE_BYTES, TILE_WIDTH } from '../tree/tiles.ts'
import { headProblem } from './tree-heads.ts'

export interface TreeSource {
  readonly readTiles: ReadTiles
  head(): Promise<{ readonly size: number; readonly root: Uint8Array; readonly checkpoint: string } | null>
  segments(): Promise<readonly TakenPlace[]>
  spans(place: TreePlace): Promise<readonly LeafSpan[]>
}

interface TreePlace {
  readonly node: string
  readonly slot: string
  readonly segment: string
}

/** Lines before `takenBytes` without a leaf are submitted and await the next head. */
interface TakenPlace extends TreePlace {
  readonly takenBytes: number
}

interface LeafSpan {
  readonly startByte: number
  readonly endByte: number
  readonly firstLeaf: number
  readonly leaves: number
}

/** A signed head that is stored outside the tree. */
export interface KeptHead {
  /** Location, for display. */
  readonly where: string
  readonly checkpoint: string
}

export interface VerifyTreeOptions {
  readonly tree: TreeSource
  readonly key: VerifierKey
  readonly saltKey: Uint8Array
  readonly heads: readonly KeptHead[]
  /** Logs to compare, by node. */
  readonly logs: readonly { readonly node: string; readonly directory: string }[]
  /** Whether the logs are copies from all nodes, which may lack the latest lines. */
  readonly mayBeBehind: boolean
  /** Segments with an older timestamp in their name may have been archived. */
  readonly archivedBefore: string | null
  /** Called with the number of log bytes read. */
  readonly onChunk?: (bytes: number) => void
}

const TILES_AT_ONCE = 64

/** Caches the last tile, because the leaves of a segment are close together. */
const createLeafReader = (readTiles: ReadTiles) => {
  let held = { number: -1, hashes: new Uint8Array(0) as Uint8Array }
  return async (leaf: number): Promise<Uint8Array> => {
    const number = Math.floor(leaf / TILE_WIDTH)
    if (held.number !== number) {
      const [hashes = new Uint8Array(0)] = await readTiles([{ level: 0, number }])
      held = { number, hashes }
    }
    const start = (leaf % TILE_WIDTH) * HASH_BYTES
    return held.hashes.subarray(start, start + HASH_BYTES)
  }
}

/** Computes the root from the leaves alone, independently of higher levels. */
const rootOfLeaves = async (readTiles: ReadTiles, size: number): Promise<Uint8Array> => {
  let edge = EMPTY_TREE
  const tiles = Math.ceil(size / TILE_WIDTH)
  for (let first = 0; first < tiles; first += TILES_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(TILES_AT_ONCE, tiles - first) }, (_, index) => first + index)
    const hashes = await readTiles(numbers.map((number) => ({ level: 0, number })))
    const leaves = Buffer.concat(
      hashes.map((tile, index) =>
        tile.subarray(0, Math.min(TILE_BYTES, (size - (first + index) * TILE_WIDTH) * HASH_BYTES)),
      ),
    )
    edge = growTree(edge, leaves).edge
  }
  return rootOf(edge)
}

interface LineSeen {
  readonly start: number
  readonly end: number
  readonly hash: Uint8Array
}

const readLines = async (path: string, onChunk: (bytes: number) => void): Promise<readonly LineSeen[]> => {
  const lines: LineSeen[] = []
  let start = 0
  await forEachLine(
    path,
    Number.POSITIVE_INFINITY,
    (bytes) => {
      const hash = new Uint8Array(HASH_BYTES)
      Bun.SHA256.hash(bytes, hash)
      lines.push({ start, end: start + bytes.length + 1, hash })
      start += bytes.length + 1
    },
    onChunk,
  )
  return lines
}

const same = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0
const linesOf = (spans: readonly LeafSpan[]): number => spans.reduce((sum, { leaves }) => sum + leaves, 0)

/**
 * Returns problems instead of throwing. @throws errors from reading the tree's tables; DecisionDirectoryMissingError
 */
export const verifyTree = async (options: VerifyTreeOptions): Promise<TreeReport> => {
  const { tree, key, saltKey, heads, logs, mayBeBehind, archivedBefore, onChunk = () => undefined } = options
  const problems: string[] = []
  const warnings: string[] = []
  let compared = 0
  let newer = 0
  let elsewhere = 0
  const head = (await tree.head()) ?? { size: 0, root: EMPTY_ROOT, checkpoint: '' }
  const leafAt = createLeafReader(tree.readTiles)

  const checkHeads = async (): Promise<void> => {
    const own = head.checkpoint === '' ? [] : [{ where: 'the tree’s own head', checkpoint: head.checkpoint }]
    for (const { where, checkpoint } of [...own, ...heads]) {
      const problem = await headProblem(checkpoint, key, head, tree.readTiles)
      if (problem !== null) problems.push(`${where}: ${problem}`)
    }
  }

  const checkTiles = async (): Promise<void> => {
    if (!same(await rootOfLeaves(tree.readTiles, head.size), head.root)) {
      problems.push('the tree’s leaves do not match its root: the leaves in the database were changed')
    } else if (head.size > 0 && !same(await readRoot(tree.readTiles, head.size), head.root)) {
      problems.push('the upper tiles of the tree do not match its leaves: the tiles in the database were changed')
    }
  }

  /**
   * Whether the tree contains the next segment, and its header records the same length for this segment. If so, the
   * missing lines never counted.
   */
  const isCutKnown = (
    directory: string,
    place: TreePlace,
    next: SegmentName | undefined,
    isNextHeld: boolean,
    bytes: number,
  ) => {
    const header = next === undefined ? null : firstHeader(join(directory, place.slot, next.name))
    return isNextHeld && header?.previous_segment === place.segment && header.previous_length === bytes
  }

  const compareSegment = async (
    directory: string,
    place: TakenPlace,
    spans: readonly LeafSpan[],
    { next, isNextHeld }: { readonly next: SegmentName | undefined; readonly isNextHeld: boolean },
  ): Promise<void> => {
    const name = `${place.slot}/${place.segment}`
    let lines: readonly LineSeen[]
    try {
      lines = await readLines(join(directory, place.slot, place.segment), onChunk)
    } catch (error) {
      if (!(error instanceof DecisionLineMalformedError)) throw error
      problems.push(`${name}: ${error.detail}`)
      return
    }
    let position = 0
    let span = 0
    let index = 0
    let known = 0
    let wrong: number | null = null
    for (const [number, line] of lines.entries()) {
      while (span < spans.length && line.start >= (spans[span] as LeafSpan).endByte) {
        span += 1
        index = 0
      }
      const of = spans[span]
      if (of === undefined) break
      position = line.end
      known += 1
      const holds =
        line.start >= of.startByte &&
        index < of.leaves &&
        same(await leafAt(of.firstLeaf + index), leafHashOf(line.hash, saltKey))
      index += 1
      if (holds) compared += 1
      else wrong ??= number + 1
    }
    const missing = linesOf(spans) - known
    if (wrong !== null) problems.push(`${name}: line ${wrong} differs from the line in the tree`)
    else if (missing > 0) {
      const what = `${name}: ${missing} lines of the tree are missing at its end`
      if (isCutKnown(directory, place, next, isNextHeld, position))
        warnings.push(`${what}: a failed write, recorded in the next segment`)
      else if (mayBeBehind && next === undefined) warnings.push(`${what}: not copied yet, or removed`)
      else problems.push(what)
    }
    const left = lines.length - known
    const counted = next === undefined ? null : firstHeader(join(directory, place.slot, next.name))?.previous_length
    const submittedBytes = Math.max(position, place.takenBytes)
    const extra = lines.filter(({ end }) => end > submittedBytes && end <= (counted ?? Number.POSITIVE_INFINITY)).length
    if (wrong !== null) return
    if (!isNextHeld) newer += left
    else {
      newer += lines.filter(({ end }) => end > position && end <= place.takenBytes).length
      if (extra > 0) problems.push(`${name}: ${extra} lines at its end are not in the tree`)
    }
  }

  const compareLog = async (node: string, directory: string, places: readonly TakenPlace[]): Promise<void> => {
    const bySlot = Map.groupBy(places, ({ slot }) => slot)
    const slots = new Set([...listSlots(directory), ...bySlot.keys()])
    for (const slot of [...slots].sort()) {
      const files = listSegments(join(directory, slot))
      const held = new Map((bySlot.get(slot) ?? []).map((place) => [place.segment, place]))
      const lastHeld = Math.max(-1, ...[...held.keys()].map((name) => parseSegmentName(name)?.number ?? -1))
      for (const [index, file] of files.entries()) {
        const place = held.get(file.name)
        held.delete(file.name)
        const spans = place === undefined ? [] : await tree.spans(place)
        if (place !== undefined && spans.length > 0) {
          const next = files[index + 1]
          const isNextHeld = next !== undefined && next.number <= lastHeld
          await compareSegment(directory, place, spans, { next, isNextHeld })
        } else {
          const { length } = await readLines(join(directory, slot, file.name), onChunk)
          if (file.number < lastHeld && length > 0) problems.push(`${slot}/${file.name}: the tree does not contain it`)
          else newer += length
        }
      }
      for (const place of held.values()) {
        const lines = linesOf(await tree.spans(place))
        const stamp = parseSegmentName(place.segment)?.stamp ?? ''
        if (lines === 0) continue
        if (archivedBefore !== null && stamp < archivedBefore) elsewhere += lines
        else
          problems.push(
            `${logs.length > 1 ? `${node}/` : ''}${slot}/${place.segment}: the file is missing, with ${lines} lines that the tree contains`,
          )
      }
    }
  }

  try {
    await checkHeads()
    await checkTiles()
    const places = await tree.segments()
    for (const { node, directory } of logs) {
      await compareLog(
        node,
        directory,
        places.filter((place) => place.node === node),
      )
    }
    const looked = new Set(logs.map(({ node }) => node))
    const others = Map.groupBy(
      places.filter(({ node }) => !looked.has(node)),
      ({ node }) => node,
    )
    for (const [node, of] of others) {
      let lines = 0
      for (const place of of) lines += linesOf(await tree.spans(place))
      if (mayBeBehind && lines > 0)
        problems.push(`node ${node}: all its files are missing, but the tree contains ${lines} of its lines`)
      else elsewhere += lines
    }
  } catch (error) {
    if (!(error instanceof TileTooShortError)) throw error
    problems.push('hashes are missing from the tables of the tree')
  }
  return { ok: problems.length === 0, size: head.size, compared, newer, elsewhere, problems, warnings }
}
