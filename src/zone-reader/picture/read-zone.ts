// Reads the machine-readable zone of a picture in any orientation: ink, rows, cells, characters, check digits.
import { type CellScores, type DecodedZone, decodeZone } from '../zone/decode-zone.ts'
import { LAYOUTS, type ZoneLayout } from '../zone/layout.ts'
import { GLYPH_WEIGHTS } from './glyph-weights.ts'
import { classify, unpackNet } from './glyphs.ts'
import { findGrids, type Grid, isUneven, patchOf } from './grid.ts'
import { findPieces, type GrayPicture } from './ink.ts'
import { findRows } from './rows.ts'

/** Must change whenever a picture may be read differently. */
export const READER_VERSION = 'zone-reader 2'

export type ZoneReading =
  | { readonly kind: 'read'; readonly decoded: DecodedZone }
  /** A zone-like region that can't be read with certainty. */
  | { readonly kind: 'doubtful' }
  | { readonly kind: 'none' }

/**
 * Returns the longest sides in pixels. Full size has finer letters, reduced size has less noise; enlarging separates
 * letters.
 */
export const readingSides = (longestSide: number): readonly [number, number] => [Math.min(longestSide, 2_400), 1_400]

/** Columns by which a row may extend beyond its detected letters. */
const SLACK = 2

/** Weight of a cell crossed by an edge: only letters with a distinct shape remain certain. */
const UNEVEN_TRUST = 0.35

/** Returns the possible first columns of rows with that length, nearest first. */
const startsOf = ({ first, last }: Grid, columns: number): readonly number[] => {
  const spare = columns - (last - first + 1)
  if (Math.abs(spare) > 2 * SLACK) return []
  const starts: number[] = []
  for (let start = first - Math.max(spare, 0); start <= first + Math.max(-spare, 0); start++) starts.push(start)
  for (const beyond of [1, -1]) if (spare === 0) starts.push(first + beyond)
  return starts
}

/** Returns the rows in which the layout may start: the first or last row may be undetected. */
const topsOf = ({ lastRow }: Grid, { rows, columns }: ZoneLayout) =>
  (lastRow === rows - 1 ? [0] : lastRow === rows - 2 ? [0, -1] : []).map((top) => ({ rows, columns, top }))

export const readZone = (picture: GrayPicture, nowSeconds: number): ZoneReading => {
  const net = unpackNet(GLYPH_WEIGHTS)
  const grids = findGrids(findRows(findPieces(picture)))
  for (const grid of grids) {
    for (const over of [false, true]) {
      const known = new Map<string, Float32Array>()
      const scoreOf = (column: number, row: number): Float32Array => {
        const key = `${column} ${row}`
        const found = known.get(key)
        if (found !== undefined) return found
        const patch = patchOf(picture, grid.cell(column, row), over)
        const trust = isUneven(patch) ? UNEVEN_TRUST : 1
        const scores = classify(net, patch).map((score) => score * trust)
        known.set(key, scores)
        return scores
      }
      for (const { rows, columns, top } of LAYOUTS.flatMap((layout) => topsOf(grid, layout))) {
        for (const start of startsOf(grid, columns)) {
          const scores: CellScores = Array.from({ length: rows }, (_, row) =>
            Array.from({ length: columns }, (_, column) =>
              over ? scoreOf(start + columns - 1 - column, top + rows - 1 - row) : scoreOf(start + column, top + row),
            ),
          )
          const decoded = decodeZone(scores, nowSeconds)
          if (decoded !== null) return { kind: 'read', decoded }
        }
      }
    }
  }
  return grids.length === 0 ? { kind: 'none' } : { kind: 'doubtful' }
}

/** Tries each reading side. @param scaledTo returns the picture scaled to that longest side */
export const readPicture = async (
  longestSide: number,
  scaledTo: (side: number) => GrayPicture | Promise<GrayPicture>,
  nowSeconds: number,
): Promise<ZoneReading> => {
  let reading: ZoneReading = { kind: 'none' }
  for (const side of readingSides(longestSide)) {
    const found = readZone(await scaledTo(side), nowSeconds)
    if (found.kind === 'read') return found
    if (found.kind === 'doubtful') reading = found
  }
  return reading
}
