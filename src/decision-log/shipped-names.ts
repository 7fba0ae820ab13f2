// What a shipped log is made of, under `<node>/<slot>/`: a closed segment under its own name with its SHA-256 beside it, and
// of the one that grows its pieces, each a range of bytes. Pieces sort by where they begin, so that `cat` puts them together.
import { isNodeName } from './node-name.ts'
import { isSlotName, parseSegmentName } from './segment-name.ts'

/** A growing end is put again as a whole until it has this size, and then stays: 64 objects for the usual segment. */
export const PIECE_BYTES = 4_194_304

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

/** Null if the name has another form. */
export const parseShippedName = (name: string): ShippedName | null => {
  const [node = '', slot = '', file = '', ...more] = name.split('/')
  if (!isNodeName(node) || !isSlotName(slot) || more.length > 0) return null
  const piece = /^(.+\.ndjson)\.(\d{12})\.part$/.exec(file)
  const segment = piece?.[1] ?? file.replace(/\.sha256$/, '')
  if (parseSegmentName(segment) === null) return null
  if (piece?.[2] !== undefined) return { kind: 'piece', node, slot, segment, offset: Number(piece[2]) }
  return { kind: file === segment ? 'segment' : 'digest', node, slot, segment }
}
