// Object names of a shipped log under `<node>/<slot>/`: closed segments with their SHA-256, and pieces of the open
// segment, each a range of bytes. Pieces sort by offset, so that `cat` joins them.
import { isNodeName } from './node-name.ts'
import { isSlotName, parseSegmentName } from './segment-name.ts'

/**
 * Size of a full piece. The last piece is replaced as a whole until it is full. A segment of the default size has 64
 * pieces.
 */
export const PIECE_BYTES = 4_194_304

export type ShippedName =
  | { readonly kind: 'segment' | 'digest'; readonly node: string; readonly slot: string; readonly segment: string }
  | {
      readonly kind: 'piece'
      readonly node: string
      readonly slot: string
      readonly segment: string
      readonly offset: number
    }

export const segmentObject = (node: string, slot: string, segment: string): string => `${node}/${slot}/${segment}`

/** The object’s format is that of `sha256sum -c`. */
export const digestObject = (node: string, slot: string, segment: string): string =>
  `${segmentObject(node, slot, segment)}.sha256`

export const pieceObject = (node: string, slot: string, segment: string, offset: number): string =>
  `${segmentObject(node, slot, segment)}.${String(offset).padStart(12, '0')}.part`

/** Returns null if the name has another form. */
export const parseShippedName = (name: string): ShippedName | null => {
  const [node = '', slot = '', file = '', ...more] = name.split('/')
  if (!isNodeName(node) || !isSlotName(slot) || more.length > 0) return null
  const piece = /^(.+\.ndjson)\.(\d{12})\.part$/.exec(file)
  const segment = piece?.[1] ?? file.replace(/\.sha256$/, '')
  if (parseSegmentName(segment) === null) return null
  if (piece?.[2] !== undefined) return { kind: 'piece', node, slot, segment, offset: Number(piece[2]) }
  return { kind: file === segment ? 'segment' : 'digest', node, slot, segment }
}
