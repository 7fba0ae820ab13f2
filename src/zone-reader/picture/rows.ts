// Finds rows of letters with a constant pitch in any direction. The search walks from piece to piece, predicting each
// position; proportional text ends the walk.
import type { Piece } from './ink.ts'

/** A piece with its column in the row; columns may have gaps. */
export interface Placed extends Piece {
  readonly column: number
}

export interface Row {
  readonly placed: readonly Placed[]
  /** Average vector of one pitch, in pixels. */
  readonly pitch: { readonly x: number; readonly y: number }
}

/** Minimum number of placed letters. A row of a zone has 30 letters or more, some connected or missing. */
const PLACED_MIN = 15
/** Maximum deviation along and across the row, in pitches. */
const ALONG = 0.32
const ACROSS = 0.3
/** Maximum number of columns to the next letter. */
const GAP_MAX = 3
/** Rate at which the step adapts to letters. */
const FOLLOW = 0.2
/** First step relative to its letters' larger side. Blur enlarges small letters, and no letter may be skipped. */
const STEP_MIN = 0.6
const STEP_MAX = 1.5
/** Maximum size ratio of neighbors: a letter may follow a filler. */
const LARGER = 1.7

const sizeOf = (piece: Piece): number => Math.max(piece.width, piece.height)

const CELL = 16

/** Creates a spatial index with cells of CELL pixels. */
const createNear = (pieces: readonly Piece[]) => {
  const cells = new Map<number, number[]>()
  const keyOf = (column: number, row: number): number => column * 100_003 + row
  pieces.forEach(({ x, y }, index) => {
    const key = keyOf(Math.floor(x / CELL), Math.floor(y / CELL))
    const there = cells.get(key)
    if (there === undefined) cells.set(key, [index])
    else there.push(index)
  })
  return (x: number, y: number, reach: number): number[] => {
    const found: number[] = []
    for (let column = Math.floor((x - reach) / CELL); column <= Math.floor((x + reach) / CELL); column++) {
      for (let row = Math.floor((y - reach) / CELL); row <= Math.floor((y + reach) / CELL); row++) {
        for (const index of cells.get(keyOf(column, row)) ?? []) found.push(index)
      }
    }
    return found
  }
}

export const findRows = (pieces: readonly Piece[]): readonly Row[] => {
  const near = createNear(pieces)
  const used = new Uint8Array(pieces.length)

  const walk = (from: number, step: { x: number; y: number }, size: number): { index: number; column: number }[] => {
    const found: { index: number; column: number }[] = []
    let [{ x, y }, { x: sx, y: sy }, column] = [pieces[from]!, step, 0]
    for (;;) {
      let best: { index: number; ahead: number; cost: number } | null = null
      for (let ahead = 1; ahead <= GAP_MAX && best === null; ahead++) {
        const [ex, ey] = [x + sx * ahead, y + sy * ahead]
        const length = Math.hypot(sx, sy)
        for (const index of near(ex, ey, length * ALONG)) {
          const piece = pieces[index]!
          if (used[index] === 1 || sizeOf(piece) < size * 0.45 || sizeOf(piece) > size * 1.7) continue
          const along = Math.abs((piece.x - ex) * sx + (piece.y - ey) * sy) / length / length
          const across = Math.abs((piece.x - ex) * sy - (piece.y - ey) * sx) / length / length
          if (along > ALONG || across > ACROSS) continue
          if (best === null || along + across < best.cost) best = { index, ahead, cost: along + across }
        }
      }
      if (best === null) return found
      const piece = pieces[best.index]!
      column += best.ahead
      // The step adapts slowly, because single letters are narrower or off-center.
      sx += FOLLOW * ((piece.x - x) / best.ahead - sx)
      sy += FOLLOW * ((piece.y - y) / best.ahead - sy)
      // Midpoint between the observed and the expected position.
      ;[x, y] = [(piece.x + x + sx * best.ahead) / 2, (piece.y + y + sy * best.ahead) / 2]
      found.push({ index: best.index, column })
      if (found.length > 60) return found
    }
  }

  const rowFrom = (seed: number, next: number): Row | null => {
    const [a, b] = [pieces[seed]!, pieces[next]!]
    const step = { x: b.x - a.x, y: b.y - a.y }
    const size = (sizeOf(a) + sizeOf(b)) / 2
    const ahead = walk(seed, step, size)
    if (ahead.length < 3) return null
    const behind = walk(seed, { x: -step.x, y: -step.y }, size)
    if (ahead.length + behind.length + 1 < PLACED_MIN) return null
    const all = [
      ...behind.reverse().map(({ index, column }) => ({ index, column: -column })),
      { index: seed, column: 0 },
      ...ahead,
    ]
    for (const { index } of all) used[index] = 1
    const placed = all.map(({ index, column }) => ({ ...pieces[index]!, column }))
    const [first, last] = [placed[0]!, placed.at(-1)!]
    const columns = last.column - first.column
    return { placed, pitch: { x: (last.x - first.x) / columns, y: (last.y - first.y) / columns } }
  }

  const rows: Row[] = []
  for (let seed = 0; seed < pieces.length; seed++) {
    const piece = pieces[seed]!
    const size = sizeOf(piece)
    const distanceTo = (index: number): number => Math.hypot(pieces[index]!.x - piece.x, pieces[index]!.y - piece.y)
    for (const next of near(piece.x, piece.y, size * STEP_MAX * LARGER).sort(
      (one, two) => distanceTo(one) - distanceTo(two),
    )) {
      if (used[seed] === 1) break
      if (next === seed || used[next] === 1) continue
      const other = pieces[next]!
      const distance = distanceTo(next)
      const larger = Math.max(size, sizeOf(other))
      if (distance < larger * STEP_MIN || distance > larger * STEP_MAX || sizeOf(other) < size * 0.6) continue
      const row = rowFrom(seed, next)
      if (row !== null) rows.push(row)
    }
  }
  return rows.sort((one, other) => other.placed.length - one.placed.length).slice(0, 12)
}
