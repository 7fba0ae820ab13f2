import { createHash } from 'node:crypto'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { digestObject, parseShippedName, pieceObject, segmentObject } from '../../decision-log/shipped-lines.ts'
import type { ShipTarget } from '../../object-store/ship-target.ts'

interface CollectedLog {
  readonly node: string
  readonly directory: string
  /** Number of segments assembled from pieces, because they were open or their node was lost. */
  readonly fromPieces: number
  readonly problems: readonly string[]
}

export interface CollectProgress {
  readonly bytes: number
  readonly bytesTotal: number
}

interface Parts {
  readonly slot: string
  readonly segment: string
  whole: boolean
  digest: boolean
  /** Bytes by start offset. */
  readonly pieces: Map<number, number>
}

const DIGEST_BYTES = 64

const readDigest = async (chunks: AsyncIterable<Uint8Array>): Promise<string> => {
  let text = ''
  for await (const chunk of chunks) {
    text += Buffer.from(chunk.subarray(0, DIGEST_BYTES)).toString('latin1')
    if (text.length >= DIGEST_BYTES) break
  }
  return text.slice(0, DIGEST_BYTES)
}

const writeAll = async (
  path: string,
  sources: AsyncIterable<AsyncIterable<Uint8Array>>,
  onChunk: (size: number) => void,
) => {
  const hash = createHash('sha256')
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const source of sources) {
      for await (const chunk of source) {
        hash.update(chunk)
        await file.writeFile(chunk)
        onChunk(chunk.length)
      }
    }
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}

/** Collects one log per node, sorted by name, in `scratch`. */
export const collectShipped = async (
  target: ShipTarget,
  scratch: string,
  onProgress: (progress: CollectProgress) => void = () => undefined,
): Promise<readonly CollectedLog[]> => {
  const nodes = new Map<string, Map<string, Parts>>()
  let bytesTotal = 0
  for (const { name, bytes } of await target.list('')) {
    const parsed = parseShippedName(name)
    if (parsed === null) continue
    const { node, slot, segment } = parsed
    const log = nodes.get(node) ?? new Map<string, Parts>()
    nodes.set(node, log)
    const key = `${slot}/${segment}`
    const parts = log.get(key) ?? { slot, segment, whole: false, digest: false, pieces: new Map<number, number>() }
    log.set(key, parts)
    if (parsed.kind === 'piece') parts.pieces.set(parsed.offset, bytes)
    else if (parsed.kind === 'segment') parts.whole = true
    else parts.digest = true
    if (parsed.kind !== 'digest') bytesTotal += bytes
  }
  let bytes = 0
  const onChunk = (size: number): void => {
    bytes += size
    onProgress({ bytes, bytesTotal })
  }

  const collectWhole = async (node: string, path: string, parts: Parts): Promise<string | null> => {
    const { slot, segment } = parts
    const source = async function* () {
      yield target.read(segmentObject(node, slot, segment))
    }
    const sha256 = await writeAll(path, source(), onChunk)
    if (!parts.digest) return null
    const expected = await readDigest(target.read(digestObject(node, slot, segment)))
    return expected === sha256 ? null : `${slot}/${segment} does not match its .sha256`
  }

  const collectPieces = async (node: string, path: string, parts: Parts): Promise<string | null> => {
    const { slot, segment, pieces } = parts
    let end = 0
    const source = async function* () {
      for (let size = pieces.get(0); size !== undefined && size > 0; size = pieces.get(end)) {
        yield target.read(pieceObject(node, slot, segment, end))
        end += size
      }
    }
    await writeAll(path, source(), onChunk)
    const beyond = [...pieces.keys()].filter((offset) => offset > end)
    return beyond.length === 0 ? null : `${slot}/${segment} has a gap: the piece that starts at byte ${end} is missing`
  }

  const collected: CollectedLog[] = []
  for (const node of [...nodes.keys()].sort()) {
    const directory = join(scratch, node)
    const problems: string[] = []
    let fromPieces = 0
    const log = [...(nodes.get(node) ?? [])].sort(([left], [right]) => (left < right ? -1 : 1))
    for (const [, parts] of log) {
      const { slot, segment } = parts
      await mkdir(join(directory, slot), { recursive: true, mode: 0o700 })
      const path = join(directory, slot, segment)
      if (!parts.whole && parts.pieces.size === 0) {
        problems.push(`${slot}/${segment} is missing; only its .sha256 remains`)
        continue
      }
      if (!parts.whole) fromPieces += 1
      const problem = await (parts.whole ? collectWhole : collectPieces)(node, path, parts)
      if (problem !== null) problems.push(problem)
    }
    collected.push({ node, directory, fromPieces, problems })
  }
  return collected
}
