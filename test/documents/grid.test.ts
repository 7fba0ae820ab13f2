// Rows and grids from pieces of ink, without an image.
import { expect, test } from 'bun:test'
import { findGrids } from '../../src/zone-reader/picture/grid.ts'
import type { Piece } from '../../src/zone-reader/picture/ink.ts'
import { findRows, type Row } from '../../src/zone-reader/picture/rows.ts'

const PITCH = 18
const COLUMNS = 44

const piece = (column: number, row: number, height: number): Piece => ({
  x: 100 + column * PITCH,
  y: 300 + row * 2.5 * PITCH,
  width: 12,
  height,
  area: 60,
})

const rowOf = (row: number, direction: 1 | -1): Row => {
  const placed = Array.from({ length: COLUMNS }, (_, column) => ({
    ...piece(column, row, 18),
    column: direction * column,
  }))
  return { placed: direction === 1 ? placed : placed.reverse(), pitch: { x: direction * PITCH, y: 0 } }
}

const directions = [1, -1] as const
test.each(directions.flatMap((upper) => directions.map((lower) => [upper, lower] as const)))(
  'two rows are one upright grid if they were found in directions %i and %i',
  (upper, lower) => {
    const rows = [rowOf(0, upper), rowOf(1, lower)]
    for (const found of [rows, rows.toReversed()]) {
      const grids = findGrids(found)
      expect(grids).toHaveLength(1)
      const { x, y } = grids[0]!.cell(grids[0]!.first, 0)
      expect([Math.round(x), Math.round(y)]).toEqual([100, 300])
    }
  },
)

test('a row has one step per letter if letters are much higher than their pitch', () => {
  const letters = Array.from({ length: COLUMNS }, (_, column) => piece(column, 0, PITCH * 1.45))
  const [row] = findRows(letters)
  expect(row?.placed).toHaveLength(COLUMNS)
})
