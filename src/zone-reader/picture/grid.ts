// Fits the cells of a zone to detected rows: a plane through the letters of parallel rows, corrected for a bent page by
// nearby letters.
import type { GrayPicture } from './ink.ts'
import { fitPlane, type Match, type Plane, type Point } from './plane.ts'
import type { Row } from './rows.ts'

/** Candidate position of a zone. In an upright picture, cell (0, 0) is the first letter. */
export interface Grid {
  /** Index of the last detected row: 1 or 2. */
  readonly lastRow: number
  /** First and last column with letters. */
  readonly first: number
  readonly last: number
  /** Also accepts undetected positions: rows of connected letters are extrapolated from other rows. */
  cell(column: number, row: number): Cell
}

/** Center, and vectors of one pitch to the right and down. */
export interface Cell extends Point {
  readonly right: Point
  readonly down: Point
}

/** Rows are 6.35 mm apart, letters 2.54 mm (ICAO 9303-3 and 9303-4, nominal dimensions). */
const ROW_IN_PITCHES = 2.5
/** Maximum deviation from the expected row distance, in pitches. */
const ROW_STRAY = 0.8
const GRIDS_MAX = 6
const ANGLE_MAX = 0.12
const PITCH_RATIO_MAX = 1.2
/** Deviation in pitches above which a letter is connected to other ink. */
const STRAY = 0.3
/** Columns to each side that determine the bend of the page. */
const BEND_REACH = 4
/** Weight of the bend in other rows. */
const OTHER_ROW = 0.15

/** Rows of one zone, from the top. */
type Group = readonly { readonly row: Row; readonly index: number }[]

const minus = (one: Point, other: Point): Point => ({ x: one.x - other.x, y: one.y - other.y })
const dot = (one: Point, other: Point): number => one.x * other.x + one.y * other.y
const cross = (one: Point, other: Point): number => one.x * other.y - one.y * other.x
const lengthOf = ({ x, y }: Point): number => Math.hypot(x, y)

const turned = ({ placed, pitch }: Row): Row => ({
  placed: placed.map((piece) => ({ ...piece, column: -piece.column })).reverse(),
  pitch: { x: -pitch.x, y: -pitch.y },
})

const middleOf = ({ placed }: Row): Point => placed[placed.length >> 1]!
const spanOf = ({ placed }: Row): number => placed.at(-1)!.column - placed[0]!.column

/** Returns the distance of `other` below `row` in pitches; null unless the rows are parallel and close. */
const below = (row: Row, other: Row): number | null => {
  const [pitch, its] = [lengthOf(row.pitch), lengthOf(other.pitch)]
  if (Math.max(pitch / its, its / pitch) > PITCH_RATIO_MAX) return null
  if (Math.abs(cross(row.pitch, other.pitch)) / (pitch * its) > ANGLE_MAX) return null
  const apart = minus(middleOf(other), middleOf(row))
  if (Math.abs(dot(apart, row.pitch)) / pitch / pitch > 25) return null
  // Measured from the nearest letter, because rows may be bent or differ in length.
  const nearest = row.placed.reduce((best, piece) =>
    Math.abs(dot(minus(middleOf(other), piece), row.pitch)) < Math.abs(dot(minus(middleOf(other), best), row.pitch))
      ? piece
      : best,
  )
  return cross(row.pitch, minus(middleOf(other), nearest)) / pitch / pitch
}

/** Returns the column of `row` at a point, however far away. */
const columnAt = (row: Row, point: Point): number => {
  const nearest = row.placed.reduce((best, piece) =>
    Math.abs(dot(minus(point, piece), row.pitch)) < Math.abs(dot(minus(point, best), row.pitch)) ? piece : best,
  )
  return nearest.column + dot(minus(point, nearest), row.pitch) / dot(row.pitch, row.pitch)
}

/** Returns the letters of all rows; columns start at the longest row. */
const matchesOf = (group: Group): readonly Match[] => {
  const rows = group.map(({ row }) => row)
  const longest = rows.reduce((best, row) => (spanOf(row) > spanOf(best) ? row : best))
  const start = longest.placed[0]!.column
  return group.flatMap(({ row, index }) => {
    const first = row.placed[0]!
    const at = columnAt(longest, first)
    // Rows of equal length start below each other, even on a rotated page.
    const level = spanOf(row) === spanOf(longest) && Math.abs(at - start) < 1.5
    const shift = (level ? start : Math.round(at)) - first.column - start
    return row.placed.map(({ x, y, column }) => ({ x, y, column: column + shift, row: index }))
  })
}

const gridOf = (group: Group): Grid | null => {
  const matches = matchesOf(group)
  const rough = fitPlane(matches)
  if (rough === null) return null
  const pitch = lengthOf(group[0]!.row.pitch)
  const farFrom = (plane: Plane, match: Match): number => lengthOf(minus(match, plane(match.column, match.row)))
  const kept = matches.filter((match) => farFrom(rough, match) < STRAY * 2 * pitch)
  const plane = fitPlane(kept)
  if (plane === null) return null
  const close = kept.filter((match) => farFrom(plane, match) < STRAY * pitch)
  const bendAt = (column: number, row: number): Point => {
    let [x, y, weight] = [0, 0, 1]
    for (const match of close) {
      const apart = Math.abs(match.column - column)
      if (apart > BEND_REACH) continue
      const from = minus(match, plane(match.column, match.row))
      const share = (1 - apart / (BEND_REACH + 1)) * (match.row === row ? 1 : OTHER_ROW)
      x += from.x * share
      y += from.y * share
      weight += share
    }
    return { x: x / weight, y: y / weight }
  }
  const columns = close.map(({ column }) => column)
  return {
    lastRow: group.at(-1)!.index,
    first: Math.min(...columns),
    last: Math.max(...columns),
    cell: (column, row) => {
      const bend = bendAt(column, row)
      const at = plane(column, row)
      const down = minus(plane(column, row + 0.5), plane(column, row - 0.5))
      return {
        x: at.x + bend.x,
        y: at.y + bend.y,
        right: minus(plane(column + 0.5, row), plane(column - 0.5, row)),
        down: { x: down.x / ROW_IN_PITCHES, y: down.y / ROW_IN_PITCHES },
      }
    },
  }
}

/** Returns the number of rows in a distance; null if it isn't close to a whole number. */
const rowsLower = (pitches: number): number | null => {
  const rows = Math.round(pitches / ROW_IN_PITCHES)
  return rows >= 1 && rows <= 2 && Math.abs(pitches - rows * ROW_IN_PITCHES) < ROW_STRAY * rows ? rows : null
}

/** Each group also occurs upside down; exactly one of the two runs to the right. */
const runsRight = (group: Group): boolean => {
  const along = (side: 'x' | 'y'): number => group.reduce((sum, { row }) => sum + row.pitch[side], 0)
  return along('x') === 0 ? along('y') > 0 : along('x') > 0
}

/** Grids of two or three rows that may form a zone, most letters first. One of three rows may be missing. */
export const findGrids = (found: readonly Row[]): readonly Grid[] => {
  const groups: Group[] = []
  // Tries both directions: the direction of a detected row, which is unknown, determines which rows are below.
  for (const row of found.flatMap((one) => [one, turned(one)])) {
    const lower = found.flatMap((other) => {
      const same = dot(row.pitch, other.pitch) > 0 ? other : turned(other)
      const index = rowsLower(below(row, same) ?? 0)
      return index === null ? [] : [{ row: same, index }]
    })
    const top = { row, index: 0 }
    for (const one of lower) {
      groups.push([top, one])
      if (one.index === 1) groups.push(...lower.filter(({ index }) => index === 2).map((last) => [top, one, last]))
    }
  }
  const lettersOf = (group: Group): number => group.reduce((sum, { row }) => sum + row.placed.length, 0)
  return groups
    .filter(runsRight)
    .sort((one, other) => lettersOf(other) - lettersOf(one))
    .slice(0, GRIDS_MAX)
    .flatMap((group) => gridOf(group) ?? [])
}

export const PATCH_WIDTH = 16
export const PATCH_HEIGHT = 20
/** Samples per pitch. A patch is slightly wider than a cell. */
const STEPS = 15

/** Pixels of a cell with mean 0 and standard deviation 1. @param over reads the cell upside down */
export const patchOf = ({ width, height, pixels }: GrayPicture, cell: Cell, over: boolean): Float32Array => {
  const patch = new Float32Array(PATCH_WIDTH * PATCH_HEIGHT)
  const sign = over ? -1 : 1
  const valueAt = (x: number, y: number): number => {
    const [cx, cy] = [Math.min(Math.max(x, 0), width - 1.001), Math.min(Math.max(y, 0), height - 1.001)]
    const [left, top] = [Math.floor(cx), Math.floor(cy)]
    const at = top * width + left
    const [fx, fy] = [cx - left, cy - top]
    const upper = pixels[at]! * (1 - fx) + pixels[at + 1]! * fx
    const lower = (pixels[at + width] ?? 0) * (1 - fx) + (pixels[at + width + 1] ?? 0) * fx
    return upper * (1 - fy) + lower * fy
  }
  let [sum, squares] = [0, 0]
  for (let row = 0; row < PATCH_HEIGHT; row++) {
    for (let column = 0; column < PATCH_WIDTH; column++) {
      let value = 0
      // Four samples per step, which may be wider than a pixel.
      for (const [du, dv] of [
        [0.25, 0.25],
        [0.75, 0.25],
        [0.25, 0.75],
        [0.75, 0.75],
      ] as const) {
        const u = (sign * (column + du - PATCH_WIDTH / 2)) / STEPS
        const v = (sign * (row + dv - PATCH_HEIGHT / 2)) / STEPS
        value += valueAt(cell.x + u * cell.right.x + v * cell.down.x, cell.y + u * cell.right.y + v * cell.down.y)
      }
      patch[row * PATCH_WIDTH + column] = value / 4
      sum += value / 4
      squares += (value / 4) ** 2
    }
  }
  const mean = sum / patch.length
  const deviation = Math.max(2, Math.sqrt(Math.max(0, squares / patch.length - mean * mean)))
  for (let at = 0; at < patch.length; at++) patch[at] = (patch[at]! - mean) / deviation
  return patch
}

/** Width of a patch's border, which rarely contains ink. */
const BORDER = 3
/** Maximum brightness difference between opposite borders, relative to the range from ink to paper. */
const UNEVEN = 0.3

/** Returns whether the edge of a shadow or color crosses the patch, which could close or open a letter. */
export const isUneven = (patch: Float32Array): boolean => {
  const [top, bottom, left, right] = [[], [], [], []] as [number[], number[], number[], number[]]
  patch.forEach((value, at) => {
    const [row, column] = [Math.floor(at / PATCH_WIDTH), at % PATCH_WIDTH]
    if (row < BORDER) top.push(value)
    if (row >= PATCH_HEIGHT - BORDER) bottom.push(value)
    if (column < BORDER) left.push(value)
    if (column >= PATCH_WIDTH - BORDER) right.push(value)
  })
  const [north, south, west, east] = [top, bottom, left, right].map((border) => Math.max(...border)) as [
    number,
    number,
    number,
    number,
  ]
  const range = Math.max(...patch) - Math.min(...patch)
  return Math.max(Math.abs(north - south), Math.abs(west - east)) > UNEVEN * range
}
