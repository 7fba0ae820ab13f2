// What a shipped log is made of, under `<node>/<slot>/`: a closed segment under its own name with its SHA-256 beside it, and
// of the one that grows its pieces, each a range of bytes. Pieces sort by where they begin, so that `cat` puts them together.
import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isSlotName, parseSegmentName } from '../../decision-log/segment-name.ts'
import { errorCodeOf } from '../../lib/named-error.ts'

/** The node's name lies in the log's own folder: where the log goes, the name goes. */
const NODE_FILE = 'node-name'
const NODE = /^[a-z0-9][a-z0-9-]{0,79}$/

export type ShippedName =
  | { readonly kind: 'segment' | 'digest'; readonly node: string; readonly slot: string; readonly segment: string }
  | {
      readonly kind: 'piece'
      readonly node: string
      readonly slot: string
      readonly segment: string
      /** Where it begins in the segment. */
      readonly offset: number
    }

export const segmentObject = (node: string, slot: string, segment: string): string => `${node}/${slot}/${segment}`

/** In the format of `sha256sum`, so that `sha256sum -c` checks it. */
export const digestObject = (node: string, slot: string, segment: string): string =>
  `${segmentObject(node, slot, segment)}.sha256`

export const pieceObject = (node: string, slot: string, segment: string, offset: number): string =>
  `${segmentObject(node, slot, segment)}.${String(offset).padStart(12, '0')}.part`

/** Null for what is none of ours. */
export const parseShippedName = (name: string): ShippedName | null => {
  const [node = '', slot = '', file = '', ...more] = name.split('/')
  if (!NODE.test(node) || !isSlotName(slot) || more.length > 0) return null
  const piece = /^(.+\.ndjson)\.(\d{12})\.part$/.exec(file)
  const segment = piece?.[1] ?? file.replace(/\.sha256$/, '')
  if (parseSegmentName(segment) === null) return null
  if (piece?.[2] !== undefined) return { kind: 'piece', node, slot, segment, offset: Number(piece[2]) }
  return { kind: file === segment ? 'segment' : 'digest', node, slot, segment }
}

/** Null where the log has no name: it was never shipped, or the name is gone. */
export const knownNodeName = (directory: string): string | null =>
  existsSync(join(directory, NODE_FILE)) ? nodeNameOf(directory) : null

/** The name under which this log is shipped: the machine's and some random letters, made once and kept with the log. */
export const nodeNameOf = (directory: string): string => {
  const path = join(directory, NODE_FILE)
  if (!existsSync(path)) {
    const machine = hostname()
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 40)
    const temporary = `${path}.${randomBytes(8).toString('hex')}.tmp`
    writeFileSync(temporary, `${machine === '' ? 'node' : machine}-${randomBytes(4).toString('hex')}\n`, {
      mode: 0o600,
    })
    try {
      // Of two that start together one makes it, and both read it.
      linkSync(temporary, path)
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST') throw error
    } finally {
      rmSync(temporary, { force: true })
    }
  }
  const name = readFileSync(path, 'utf8').trim()
  if (!NODE.test(name)) throw new Error(`${path} must hold lower-case letters, digits and - only`)
  return name
}
