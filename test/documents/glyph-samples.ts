// Labeled cells of invented documents, found by the reader's own search. The text is random, with runs of fillers.
import { type Cell, findGrids, patchOf } from '../../src/zone-reader/picture/grid.ts'
import { findPieces } from '../../src/zone-reader/picture/ink.ts'
import { readingSides } from '../../src/zone-reader/picture/read-zone.ts'
import { findRows } from '../../src/zone-reader/picture/rows.ts'
import { ALPHABET } from '../../src/zone-reader/zone/layout.ts'
import { makeSpecimen, randomOf, type Specimen, scaled } from './specimen.ts'

export interface GlyphSample {
  readonly patch: Float32Array
  /** Index in ALPHABET. */
  readonly label: number
}

const SHAPES = [
  [2, 44],
  [3, 30],
  [2, 36],
] as const
/** Patches per cell, each with a small offset. */
const LOOKS = 4

/** Enlarges an image as the reader does before its second attempt. */
const enlarged = async ({ gray, place }: Specimen): Promise<Pick<Specimen, 'gray' | 'place'>> => {
  const [, side] = readingSides(gray.width)
  const scale = side / gray.width
  return {
    gray: await scaled(gray, side),
    place: (column, row) => {
      const { x, y } = place(column, row)
      return { x: x * scale, y: y * scale }
    },
  }
}

const randomLine = (columns: number, random: () => number): string => {
  let line = ''
  while (line.length < columns) {
    if (random() < 0.04) line += '<'.repeat(2 + Math.floor(random() * 8))
    else line += ALPHABET[Math.floor(random() * ALPHABET.length)]
  }
  return line.slice(0, columns)
}

/**
 * Samples of one document, some scaled to 700 to 1,100 pixels. They have more blur, noise and compression than the
 * documents of tests, in two cuts of the font.
 */
export const glyphSamples = async (seed: number): Promise<readonly GlyphSample[]> => {
  const random = randomOf(seed ^ 0x5eed)
  const [rows, columns] = SHAPES[seed % SHAPES.length] ?? SHAPES[0]
  const lines = Array.from({ length: rows }, () => randomLine(columns, random))
  const longSide = Math.round(1100 + random() * 1300)
  const isSmall = random() < 0.3
  const specimen = await makeSpecimen({
    seed,
    lines,
    longSide,
    ...(isSmall ? { scaledTo: Math.round(700 + random() * 400) } : {}),
    shake: random() * (longSide / 2400) * 5,
    glare: random() * 0.6,
    ink: random() * 4,
    blur: 0.4 + random() * (longSide / 2400) * 3.4,
    noise: random() * 11,
    quality: 40 + Math.round(random() * 55),
    shade: random() * 0.6,
    shadow: random() < 0.5 ? random() * 0.45 : 0,
    perspective: random() * 0.13,
    pattern: random() * 0.7,
    font: random() < 0.3 ? 'OCR B S' : 'OCR B',
  })
  const { gray, place } = isSmall && random() < 0.5 ? await enlarged(specimen) : specimen
  const grid = findGrids(findRows(findPieces(gray))).find((found) => found.lastRow === rows - 1)
  if (grid === undefined) return []
  const samples: GlyphSample[] = []
  for (let row = 0; row < rows; row++) {
    for (let column = grid.first - 1; column <= grid.last + 1; column++) {
      const cell = grid.cell(column, row)
      const found = lines
        .flatMap((line, at) => [...line].map((character, index) => ({ character, ...place(index, at) })))
        .find(({ x, y }) => Math.hypot(x - cell.x, y - cell.y) < 0.35 * Math.hypot(cell.right.x, cell.right.y))
      if (found === undefined) continue
      const turn = place(1, 0).x * cell.right.x < place(0, 0).x * cell.right.x
      for (let look = 0; look < LOOKS; look++)
        samples.push({
          patch: patchOf(gray, beside(cell, look === 0 ? 0 : 1, random), turn),
          label: ALPHABET.indexOf(found.character),
        })
    }
  }
  return samples
}

const beside = (cell: Cell, share: number, random: () => number): Cell => {
  const spread = (range: number): number => (random() * 2 - 1) * range * share
  const [along, across, lean] = [spread(0.09), spread(0.09), spread(0.06)]
  // Letters of printers differ in width.
  const [wide, high] = [1 + spread(0.12), 1 + spread(0.12)]
  return {
    x: cell.x + along * cell.right.x + across * cell.down.x,
    y: cell.y + along * cell.right.y + across * cell.down.y,
    right: { x: cell.right.x * wide + lean * cell.down.x, y: cell.right.y * wide + lean * cell.down.y },
    down: { x: cell.down.x * high - lean * cell.right.x, y: cell.down.y * high - lean * cell.right.y },
  }
}
