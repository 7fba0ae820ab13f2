// Groups dark pixels into connected pieces. Lighting may vary: each pixel is compared with the mean of a square around
// it (adaptive threshold of Bradley and Roth).

/** Row-major, one byte per pixel; 0 is black. */
export interface GrayPicture {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

/** Center and size of the bounding box of connected ink. */
export interface Piece {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly area: number
}

/** Half the side of the square in pixels: wider than a stroke, narrower than a shadow. */
const REACH = 22
/** Minimum difference from the mean, absolute and relative. */
const DARKER = 9
const DARKER_SHARE = 0.1
/** Side lengths of a readable letter in pixels, and limits for the number of pieces. */
const SIDE_MIN = 5
const SIDE_MAX = 110
const PIECES_MAX = 12_000

const inkOf = ({ width, height, pixels }: GrayPicture): Uint8Array => {
  const line = width + 1
  const sums = new Float64Array(line * (height + 1))
  for (let y = 0; y < height; y++) {
    let row = 0
    for (let x = 0; x < width; x++) {
      row += pixels[y * width + x]!
      sums[(y + 1) * line + x + 1] = sums[y * line + x + 1]! + row
    }
  }
  const meanAround = (x: number, y: number, reach: number): number => {
    const top = Math.max(0, y - reach)
    const bottom = Math.min(height, y + reach + 1)
    const left = Math.max(0, x - reach)
    const right = Math.min(width, x + reach + 1)
    const sum =
      sums[bottom * line + right]! - sums[bottom * line + left]! - sums[top * line + right]! + sums[top * line + left]!
    return sum / ((bottom - top) * (right - left))
  }
  const ink = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const mean = meanAround(x, y, REACH)
      // The mean of nine pixels, so that noise isn't detected as ink.
      if (mean - meanAround(x, y, 1) > Math.max(DARKER, mean * DARKER_SHARE)) ink[y * width + x] = 1
    }
  }
  return ink
}

/** Returns the letter-sized pieces. The flood fill visits each pixel once. */
export const findPieces = (picture: GrayPicture): readonly Piece[] => {
  const { width, height } = picture
  const ink = inkOf(picture)
  const open = new Int32Array(width * height)
  const pieces: Piece[] = []
  for (let start = 0; start < ink.length && pieces.length < PIECES_MAX; start++) {
    if (ink[start] === 0) continue
    let [left, right, top, bottom, area, ahead] = [width, 0, height, 0, 0, 1]
    open[0] = start
    ink[start] = 0
    while (ahead > 0) {
      const at = open[--ahead]!
      const x = at % width
      const y = (at - x) / width
      area++
      if (x < left) left = x
      if (x > right) right = x
      if (y < top) top = y
      if (y > bottom) bottom = y
      for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row++) {
        for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column++) {
          const next = row * width + column
          if (ink[next] === 0) continue
          ink[next] = 0
          open[ahead++] = next
        }
      }
    }
    const [wide, high] = [right - left + 1, bottom - top + 1]
    if (Math.max(wide, high) < SIDE_MIN || Math.max(wide, high) > SIDE_MAX || area < 2 * SIDE_MIN) continue
    pieces.push({ x: (left + right) / 2, y: (top + bottom) / 2, width: wide, height: high, area })
  }
  return pieces
}
